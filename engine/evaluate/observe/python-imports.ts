/* The hook by which a traced run shows which modules Python looked for. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxRequest } from '../../../core/interfaces/sandbox.ts';

/** Where the hook is in the sandbox. */
const inside = '/import-hook';
/** Minor versions of Python 3 that have a directory for packages of the user. */
const versions = Array.from({ length: 20 }, (_, minor) => `user/lib/python3.${minor}/site-packages`);

/**
 * Makes Python imports visible in a trace. Python lists a directory once and then looks up no names. So the hook
 * looks up the files that an import could use below `workspace`, in Python's order, up to the first that exists. The
 * trace shows the outcome, and the hook records no other data.
 *
 * It is installed as `sitecustomize` on PYTHONPATH, for virtual environments, and as `usercustomize`, for commands
 * that set PYTHONPATH. It removes itself from the module path and then loads the project's module of the same name.
 * Programs that refuse both (`python -I`, `-E`, other variables) run without it; their directory listings are still
 * traced.
 */
export async function placeImportHook(
  place: string,
  workspace: string,
): Promise<Pick<SandboxRequest, 'binds' | 'env'>> {
  const source = join(place, 'import-hook');
  const text = hookIn(workspace);
  for (const [directory, name] of [
    ['', 'sitecustomize'],
    ...versions.map((one) => [one, 'usercustomize']),
  ] as const) {
    await mkdir(join(source, directory), { recursive: true });
    await writeFile(join(source, directory, `${name}.py`), text);
  }
  return {
    binds: [{ source, target: inside, writable: false }],
    env: { PYTHONPATH: inside, PYTHONUSERBASE: `${inside}/user` },
  };
}

const hookIn = (workspace: string): string => `\
import os, sys
try:
    from importlib.machinery import FileFinder

    if not hasattr(FileFinder, 'find_unobserved'):
        FileFinder.find_unobserved = FileFinder.find_spec

        def find_spec(self, fullname, target=None):
            if (self.path + '/').startswith(${JSON.stringify(`${workspace}/`)}):
                name = self.path + '/' + fullname.rpartition('.')[2]
                endings = [ending for ending, _ in self._loaders]
                any(os.access(start + ending, os.F_OK) for start in (name + '/__init__', name) for ending in endings)
            return self.find_unobserved(fullname, target)

        FileFinder.find_spec = find_spec
except ImportError:
    pass
sys.path.remove(os.path.dirname(__file__))
del sys.modules[__name__]
__import__(__name__)
`;

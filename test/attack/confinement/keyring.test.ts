import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { bubblewrapSandbox } from '../../../plugins/sandbox/bubblewrap.ts';
import { unshareSandbox } from '../../../plugins/sandbox/unshare.ts';
import { findProgram } from '../../../workspace/process/find-program.ts';
import { spawnProcess } from '../../../workspace/process/spawn.ts';
import { openScene, outputOf } from '../../plugins/sandbox/sandbox-scene.ts';

t.setTimeout(120_000);
const python = findProgram('python3', process.env.PATH ?? '');
const calls = `
import ctypes, os, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
add_key, keyctl = (217, 219) if platform.machine() == "aarch64" else (248, 250)
JOIN, READ, SEARCH, session = 1, 11, 10, ctypes.c_int(-3)
`;

import { casesOf } from '../../rooms/long.ts';

/** Joins a session keyring of its own, puts a key into it, and goes on as the command. */
const withKey = `${calls}
libc.syscall(keyctl, JOIN, None)
if libc.syscall(add_key, b"user", b"writ-secret", b"PRIVATE", 7, session) == -1: sys.exit(42)
os.execv(sys.argv[1], sys.argv[1:])
`;
/** Looks for that key, by search and by all the numbers that /proc tells of. */
const findKey = `${calls}
def read(serial):
    held = ctypes.create_string_buffer(64)
    length = libc.syscall(keyctl, READ, ctypes.c_int(serial), held, 64)
    return held.raw[:max(length, 0)]
found = libc.syscall(keyctl, SEARCH, session, b"user", b"writ-secret", 0)
print("search", read(found) if found != -1 else "nothing")
try:
    listed = open("/proc/keys").read()
except OSError:
    listed = ""
print("listed", "writ-secret" in listed)
for line in listed.splitlines():
    if b"PRIVATE" in read(int(line.split()[0], 16)): print("read by number")
if libc.syscall(add_key, b"user", b"writ-planted", b"x", 1, session) != -1: print("planted")
`;

for (const [name, make] of casesOf({ bubblewrap: bubblewrapSandbox, unshare: unshareSandbox }, [
  'bubblewrap',
])) {
  const { works } = await make().probe();
  t.test(
    `${name}: a command cannot find a key of the session that started writ`,
    { skip: !works || python === undefined },
    async (t) => {
      const scene = openScene(t);
      writeFileSync(path.join(scene.workspace, 'find.py'), findKey);
      const module = new URL(`../../../plugins/sandbox/${name}.ts`, import.meta.url).href;
      const script = `
        const [make] = Object.values(await import(${JSON.stringify(module)}));
        const result = await make().run({ argv: ['python3', '-I', '/workspace/find.py'], workspace: ${JSON.stringify(scene.workspace)},
          reports: ${JSON.stringify(scene.reports)}, binds: [], env: {}, network: 'none', timeoutMs: 120000, maxOutputBytes: 10000 });
        console.log(result.combined.bytes.toString());`;
      const started = (argv: readonly string[]) =>
        spawnProcess({
          argv: [python ?? '', '-I', '-c', withKey, ...argv],
          cwd: scene.root,
          env: { PATH: process.env.PATH ?? '', HOME: scene.home },
          maxOutputBytes: 65_536,
          timeoutMs: 60_000,
        });
      const outside = await started([python ?? '', '-I', path.join(scene.workspace, 'find.py')]);
      if (outside.exitCode === 42) return void t.comment('this kernel keeps no keys');
      t.match(outputOf(outside), /search b'PRIVATE'/, 'a child finds it, or nothing below means anything');
      const inside = await started([process.execPath, '--input-type=module', '-e', script]);
      t.equal(outputOf(inside), 'search nothing\nlisted False', inside.stderr.bytes.toString());
    },
  );
}

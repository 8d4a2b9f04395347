import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { SandboxRequest } from '../../core/contract/sandbox.ts';
import { isInside } from '../../engine/tool/inside.ts';
import type { HostView } from './host-view.ts';
import type { Mount } from './mounts.ts';

/** Where programs keep the rest of themselves, which runs as well as they do. */
const companions = ['lib/git-core', 'libexec/git-core', 'lib64/git-core'];

/**
 * What covers, at every place where the view shows it, each program that a request withholds, and the directory of its
 * companions. Links are resolved, so that every name of one file is covered with it; a copy under another name is not
 * known here.
 */
export function withheldMounts(view: HostView, { withheld }: SandboxRequest): readonly Mount[] {
  if (withheld === undefined) return [];
  const shown = [...view.system, ...view.toolchains];
  const isShown = (place: string): boolean => shown.some((root) => isInside(root, place));
  const targets = new Map<string, Mount>();
  const cover = (place: string, source: string): void => {
    if (isShown(place)) targets.set(place, { source, target: place, writable: false });
  };
  for (const directory of new Set(view.searchPath)) {
    for (const name of namesIn(directory).filter(withheld.isWithheld)) {
      const real = resolved(path.join(directory, name));
      if (real !== undefined && statSync(real).isFile())
        cover(real, path.join(withheld.stubs, withheld.stub));
    }
    for (const companion of companions) {
      const real = resolved(path.join(path.dirname(directory), companion));
      if (real !== undefined && statSync(real).isDirectory()) cover(real, withheld.stubs);
    }
  }
  // What a covered directory holds is covered.
  const places = [...targets.keys()];
  return [...targets.values()].filter(
    ({ target }) => !places.some((place) => place !== target && isInside(place, target)),
  );
}

const listed = new Map<string, { readonly at: bigint; readonly names: readonly string[] }>();

/** One directory of programs is read again when something in it has changed. */
function namesIn(directory: string): readonly string[] {
  const stat = lstatSync(directory, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return [];
  const before = listed.get(directory);
  if (before?.at === stat.mtimeNs) return before.names;
  const names = readdirSync(directory);
  listed.set(directory, { at: stat.mtimeNs, names });
  return names;
}

function resolved(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

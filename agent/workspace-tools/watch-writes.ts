/* Reports files that a command wrote outside its allowed paths. */
import { isWritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { HandAnswer } from '../../core/interfaces/worker.ts';
import { scopeVerdict } from '../../spec/scope-verdict.ts';
import type { CommandVerdict } from '../../workspace/command-acl/acl.ts';
import { isUnder } from '../../workspace/command-acl/constraints.ts';
import { type ChangedEntry, changedEntries } from '../../workspace/git/held-index.ts';
import type { TreeOfWorkspace } from '../../workspace/git/workspace.ts';
import type { AgentRun } from '../agent-run.ts';

/** Reports files that a command wrote outside its allowed paths, as soon as it ends. */
export interface WriteWatch {
  /** Runs a command and appends the files that it wrote outside its allowed paths to its text. */
  around(acl: CommandVerdict, act: () => Promise<HandAnswer>): Promise<HandAnswer>;
  /** Files were changed by something else than a command. */
  forget(): void;
  /** What of a tree is as a command left it outside the `writeRoots` of the rules that allowed it. */
  strayedIn(tree: string): Promise<readonly string[]>;
}

const maxTold = 20;

/**
 * Watches a workspace that now contains `base`. Files that git ignores are not part of the change and are not
 * reported.
 */
export function watchWrites(
  { services: { scratch }, identity: { scope } }: Pick<AgentRun, 'services' | 'identity'>,
  base: string,
  kept: TreeOfWorkspace,
): WriteWatch {
  const isBounded = !scope.wholeRepository || scope.forbidden.length > 0;
  const strayed = new Map<string, string | undefined>();
  let known: string | undefined = base;
  const notes = (
    changed: readonly ChangedEntry[],
    { writeRoots = [] }: CommandVerdict,
  ): readonly string[] => {
    const outside = changed.filter(({ path }) => scopeVerdict(scope, path) !== 'in');
    const beyond = changed.filter(({ path }) => !writeRoots.every((roots) => isUnder(roots, path)));
    for (const { path, after } of beyond) strayed.set(path, after?.object);
    return [
      told(outside, 'outside the scope of the contract'),
      told(beyond, 'outside the `writeRoots` of the rule that allows the command'),
    ].flat();
  };
  return {
    async around(acl, act) {
      if (!isBounded && acl.writeRoots === undefined) {
        known = undefined;
        return act();
      }
      try {
        const before = known ?? (await kept.take());
        known = undefined;
        const answer = await act();
        known = await kept.take();
        const changed = before === known ? [] : await changedEntries(scratch, before, known);
        const text = [answer.text, ...notes(changed, acl)].filter((part) => part !== '').join('\n');
        return { ...answer, text };
      } catch (fault) {
        // The workspace can no longer be read as a tree; the attempt will fail with the same error.
        if (!isWritError(fault)) throw fault;
        known = undefined;
        return { outcome: 'failed', text: `failed: what was written cannot be taken: ${fault.message}` };
      }
    },
    forget() {
      known = undefined;
    },
    async strayedIn(tree) {
      if (strayed.size === 0) return [];
      const changed = await changedEntries(scratch, base, tree);
      return changed
        .filter(({ path, after }) => strayed.has(path) && strayed.get(path) === after?.object)
        .map(({ path }) => path);
    },
  };
}

function told(entries: readonly ChangedEntry[], where: string): readonly string[] {
  if (entries.length === 0) return [];
  const named = entries.slice(0, maxTold).map(({ path, before, after }) => {
    const was = before === undefined ? 'added' : after === undefined ? 'deleted' : 'changed';
    return `${quoted(path)} (${was})`;
  });
  const more = entries.length > named.length ? ` and ${entries.length - named.length} more` : '';
  return [`[written ${where}: ${named.join(', ')}${more}. Undo it: a change that holds it is refused]`];
}

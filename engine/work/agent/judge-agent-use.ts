import { statSync } from 'node:fs';
import { posix } from 'node:path';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { AgentVerdict, HandUse } from '../../../core/interfaces/worker.ts';
import { refusal } from '../../../workspace/command-acl/constraints.ts';
import { wordsOf } from '../../../workspace/shell/shell.ts';
import type { OpenRun } from '../../state/open-run.ts';
import type { HandPlace } from '../hands/hand-place.ts';
import { type JudgedUse, judgeUse } from '../hands/judge-use.ts';
import { openDoor } from '../tools/open-tools.ts';
import { type AttemptTools, usualBound } from '../tools/tool-setting.ts';

/** A file may grow to so much by one use. */
const maxFileBytes = 8 * 1024 * 1024;

/** What agents asked to do in one attempt, judged as what hands do is, and written down in the same form. */
export function openAgentJudge(run: OpenRun, place: HandPlace, tools: AttemptTools) {
  const door = openDoor(tools, usualBound);
  const inside = run.ground.sandbox.pathsInside(place).workspace;
  const judge = (use: HandUse): JudgedUse | string => {
    const wanted = toHandUse(use, inside, place);
    if (typeof wanted === 'string') return wanted;
    const judged = judgeUse(run, place, wanted);
    // What its commands print goes to it and not through us, and nobody stands between two of them.
    const { acl } = judged;
    const bound = acl && unheldBounds.find((name) => acl[name] !== undefined);
    if (judged.refusal !== undefined || bound === undefined) return judged;
    return { ...judged, refusal: unheld(bound) };
  };
  return {
    /** One after the other, as hands are used. */
    async judge(use: HandUse): Promise<AgentVerdict> {
      const begun = await door.begin(() => judge(use));
      if ('refusal' in begun) return { refusal: begun.refusal, settle: async () => {} };
      return {
        async settle(outcome, exitCode) {
          await begun.settle({ outcome, ...(exitCode === undefined ? {} : { exitCode }) });
        },
      };
    },
  };
}

const unheldBounds = ['maxOutputBytes', 'maxWriteBytes', 'writeRoots'] as const;

function unheld(bound: string): Finding {
  return refusal(`the rule that allows it sets \`${bound}\`, to which a command of an agent cannot be held`, {
    reason: 'unheld',
    bound,
  });
}

const shells = /^(?:\/usr)?\/bin\/(?:ba|da|z)?sh$/;

/** A command that is nothing but a shell with a script counts as the script. */
export function scriptIn(command: string): string {
  const [shell = '', option = '', script, ...more] = wordsOf(command) ?? [];
  const isScript = shells.test(shell) && (option === '-lc' || option === '-c') && more.length === 0;
  return isScript && script !== undefined ? script : command;
}

/** The use of a hand that is the same, or why there is none. */
function toHandUse(use: HandUse, inside: string, { workspace }: HandPlace): HandUse | string {
  if (use.kind === 'execute') return { kind: 'execute', command: scriptIn(use.command) };
  if (use.kind === 'vcs') return 'an agent asks no version control';
  // What is not in the workspace stays so: it begins with `..`.
  const path = posix.relative(inside, posix.resolve(inside, use.path)) || '.';
  if (use.kind !== 'write') return { ...use, path };
  const there = statSync(`${workspace}/${path}`, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = there + use.bytes.length;
  if (bytes > maxFileBytes) return `a file of more than ${maxFileBytes} bytes`;
  return { kind: 'write', path, bytes: Buffer.alloc(bytes) };
}

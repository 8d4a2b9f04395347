import { statSync } from 'node:fs';
import { posix } from 'node:path';
import { toRfc3339 } from '../../../../core/base/clock.ts';
import type { AgentVerdict } from '../../../../core/contract/agent.ts';
import type { Finding } from '../../../../core/contract/finding.ts';
import type { HandUse } from '../../../../core/contract/hands.ts';
import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import { refusal } from '../../../tool/acl/refusal.ts';
import { wordsOf } from '../../../tool/shell.ts';
import type { UsedHand } from '../../record/used-hand.ts';
import type { OpenRun } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import type { HandPlace } from '../hands/hand-place.ts';
import { judgeUse } from '../hands/judge-use.ts';
import { keptUse } from '../hands/kept-use.ts';

/** A file may grow to so much by one use. */
const maxFileBytes = 8 * 1024 * 1024;
/** Uses that one attempt may ask for: beyond, it goes round in circles. */
const maxUses = 5000;

/** What agents asked to do in one attempt, judged as what hands do is, and written down in the same form. */
export function openAgentJudge(run: OpenRun, place: HandPlace) {
  const used: UsedHand[] = [];
  const { hooks, clock } = run.means.engine;
  const policy = policyOf(run);
  const inside = run.ground.sandbox.pathsInside(place).workspace;

  const judge = async (use: HandUse): Promise<AgentVerdict> => {
    run.means.signal.throwIfAborted();
    const started = clock.monotonic();
    const startedAt = toRfc3339(run.means.settings.clock.now());
    if (used.length >= maxUses) return refused(`an attempt may use its tools ${maxUses} times`);
    const wanted = toHandUse(use, inside, place);
    if (typeof wanted === 'string') return refused(wanted);
    const judged = judgeUse(run, place, wanted);
    const { request } = judged;
    const settle = async (
      outcome: UsedHand['outcome'],
      exitCode?: number,
      finding?: Finding,
    ): Promise<void> => {
      const durationMs = Math.round(clock.monotonic() - started);
      const told = {
        outcome,
        ...(exitCode === undefined ? {} : { exitCode }),
        durationMs,
      };
      used.push({
        ...keptUse(request, wanted, (text) => redactTexts(text, policy)),
        startedAt,
        ...told,
        ...(finding === undefined ? {} : { refusal: finding.rule }),
      });
      await hooks.tool.settled.call({
        request,
        ...told,
        ...(finding === undefined ? {} : { refusal: finding }),
      });
    };
    const why = judged.refusal ?? (await hooks.tool.guard.call(request));
    if (why) {
      await settle('denied', undefined, why);
      return refused(why.message);
    }
    // What its commands print goes to it and not through us, and nobody stands between two of them.
    const acl = judged.acl;
    const bound = acl && unheldBounds.find((name) => acl[name] !== undefined);
    if (bound !== undefined) {
      const finding = unheld(bound);
      await settle('denied', undefined, finding);
      return refused(finding.message);
    }
    await hooks.tool.started.call(request);
    return { settle };
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    used,
    /** One after the other, as hands are used. */
    judge(use: HandUse): Promise<AgentVerdict> {
      const next = last.then(() => judge(use));
      last = next.catch(() => undefined);
      return next;
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

/** The use of a hand that is the same, or why there is none. */
function toHandUse(use: HandUse, inside: string, { workspace }: HandPlace): HandUse | string {
  if (use.kind === 'execute') {
    const [shell = '', option = '', script, ...more] = wordsOf(use.command) ?? [];
    const isScript = shells.test(shell) && (option === '-lc' || option === '-c') && more.length === 0;
    return { kind: 'execute', command: isScript && script !== undefined ? script : use.command };
  }
  // What is not in the workspace stays so: it begins with `..`.
  const path = posix.relative(inside, posix.resolve(inside, use.path)) || '.';
  if (use.kind !== 'write') return { ...use, path };
  const there = statSync(`${workspace}/${path}`, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = there + use.bytes.length;
  if (bytes > maxFileBytes) return `a file of more than ${maxFileBytes} bytes`;
  return { kind: 'write', path, bytes: Buffer.alloc(bytes) };
}

function refused(refusal: string): AgentVerdict {
  return { refusal, settle: async () => {} };
}

import { quoted } from '../../../../core/base/quoted.ts';
import type { Finding } from '../../../../core/contract/finding.ts';
import type { HandUse } from '../../../../core/contract/hands.ts';
import { realPathIn } from '../../../tool/acl/real-path.ts';
import { refusal } from '../../../tool/acl/refusal.ts';
import { guardTool, shownPaths } from '../../../tool/acl.ts';
import type { OpenRun } from '../../state/attempt.ts';
import type { HandPlace } from '../hands/hand-place.ts';
import type { JudgedTool } from '../tools/open-tools.ts';
import { isWritingVcs, parseVcs, type VcsQuestion } from './parse-vcs.ts';

const tool = 'vcs';

/** A question to version control, and what the rules say of it. */
export interface JudgedVcs extends JudgedTool {
  readonly real: string;
  readonly question?: VcsQuestion;
  readonly shows?: (path: string) => boolean;
}

/**
 * Rules first; then its words, of which only those are taken that are known; then each place that it names. What would
 * change something needs a person, and a run has none beside it.
 */
export function judgeVcs(
  run: Pick<OpenRun, 'identity'>,
  { workspace }: Pick<HandPlace, 'workspace'>,
  { command, args, ...kind }: Extract<HandUse, { readonly kind: 'vcs' }>,
): JudgedVcs {
  const { runId, contract } = run.identity;
  const { toolAcl } = contract.effective.security;
  const action = isWritingVcs(command) ? 'write' : 'read';
  const question = parseVcs(command, args);
  const named =
    typeof question === 'string' ? [] : [...question.paths, ...(question.file ? [question.file] : [])];
  const paths = named.length === 0 ? ['.'] : named;
  const words = [command, ...args];
  const asked = { tool, action, paths };
  const { refusal: why, maxResultBytes } = guardTool(toolAcl, { ...asked, workspace, text: words });
  const shows = shownPaths(toolAcl, tool, action);
  const hidden = paths.find((path) => !shows(path) || !shows(realPathIn(workspace, path) ?? path));
  const refused =
    why ??
    (action === 'write' ? needsPerson(command) : undefined) ??
    (typeof question === 'string' ? refusal(question, { reason: 'arguments' }) : undefined) ??
    (hidden === undefined
      ? undefined
      : refusal(`${quoted(hidden)} may not be read by the rules of the contract`, {
          reason: 'place',
          path: hidden,
        }));
  return {
    request: { runId, ...asked, command: words.map(quoted).join(' ') },
    given: { ...kind, command, args: JSON.stringify(args) },
    real: '.',
    shows,
    ...(typeof question === 'string' ? {} : { question }),
    ...(refused === undefined ? {} : { refusal: refused }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
  };
}

function needsPerson(command: string): Finding {
  return refusal(
    `APPROVAL_REQUIRED: ${quoted(command)} changes what version control holds, which a person allows in a session; in a run the files are the change, and nobody commits it but writ`,
    { reason: 'approval-required', command },
  );
}

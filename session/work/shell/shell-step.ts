import { WritError } from '../../../core/base/errors.ts';
import type { ToolRequest } from '../../../core/contract/hook-payload.ts';
import type { SandboxBackend } from '../../../core/contract/sandbox.ts';
import { readDraftGround } from '../../../engine/run/draft/draft-ground.ts';
import { openDoor } from '../../../engine/run/work/tools/open-tools.ts';
import { untrustedText } from '../../../engine/run/work/turns/untrusted-text.ts';
import { guardingProfile } from '../../../engine/spec/guarding-profile.ts';
import { privacyPolicyOf } from '../../../engine/spec/privacy-policy-of.ts';
import { refusal } from '../../../engine/tool/acl/refusal.ts';
import { pickSandbox } from '../../../engine/tool/pick-sandbox.ts';
import { commandsOf } from '../../../engine/tool/shell.ts';
import { isVersionControl } from '../../../engine/tool/version-control.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import { requireApart } from '../../self-test/try-to-approve.ts';
import type { Speaker } from '../../state/fact.ts';
import { consentGround } from '../consent-ground.ts';
import { personOf } from '../person-of.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';
import type { RunWatcher } from '../watch-runs.ts';
import type { KeptCopy } from './keep-copy.ts';
import { openLiveText } from './live-text.ts';
import { runInCopy } from './run-in-copy.ts';

/** What a person's command is run with, beside its turn. */
export interface ShellParts extends Pick<RunWatcher, 'printed' | 'idOf'> {
  readonly copy: KeptCopy;
}

/** Characters that a model is told of what one command printed. */
const maxTold = 16_384;

/**
 * Runs a command of whoever controls the session, as one of a model is run: guards, approvals, sandbox, network. It
 * works on a copy of the work tree, and nothing of it comes back (docs/code-turns.md, A command of your own).
 */
export async function shellStep(
  scope: TurnScope,
  command: string,
  by: Speaker,
  { copy, printed, idOf }: ShellParts,
): Promise<StepEnd> {
  const { setting, signal, tell, newId, state } = scope;
  const { engine, repositoryPath, clock, networkAccess } = setting;
  if (networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());
  const backend = await pickSandbox(setting.sandbox, engine.slots.sandbox);
  requireConfined(backend, networkAccess);
  const runId = newId();
  const { repository, config, base } = await readDraftGround(engine, {
    repositoryPath,
    runId,
    target: await setting.target(),
  });
  const effective = guardingProfile(clock.now());
  const policy = privacyPolicyOf(effective, config.redaction);
  const mask = (text: string): string => redactTexts(text, policy);
  // To whoever ran it his own files hold no secret but secrets.
  const shown = (text: string): string =>
    setting.approval.mask(redactTexts(text, { ...policy, remove: ['secrets'] }));
  const network = { networkAccess, hosts: [] };
  const ground = await consentGround(setting, network, scope.heldBack);
  const isPerson = by.kind !== 'automation';
  const person = personOf(scope, { ...ground, isOwnWord: isPerson && ground.backend !== undefined });
  const door = openDoor(
    { engine, nowMs: () => clock.now(), mask, signal, consent: (request) => person.consent(request, signal) },
    { most: 1, told: 'one command at a time' },
  );
  const request: ToolRequest = { runId, tool: 'workspace.command', action: 'execute', command };
  const live = openLiveText({ clock, signal, mask: shown, tell: (text) => printed(request, text) });
  const answer = await door.use(
    () => ({ request, given: { command }, ...withheld(command) }),
    async () => {
      const ran = await runInCopy(
        {
          setting,
          repository,
          config,
          backend,
          base: base.tree,
          copy,
          cwd: state().ground.workingDir,
          mayOpen: state().settings.context === 'dev',
          signal,
        },
        { command, heard: live.heard },
      );
      live.end(ran.text);
      return ran;
    },
  );
  const told = mask(answer.text);
  const cut =
    told.length > maxTold
      ? `${told.slice(0, maxTold)}\n[left out: the rest of ${told.length} characters]`
      : told;
  const whose = isPerson
    ? 'The person ran this command himself'
    : 'A program that steers the session ran this command';
  const code = answer.exitCode === undefined ? answer.outcome : `exit code ${answer.exitCode}`;
  await tell({
    type: 'ran',
    id: idOf(request),
    text: `${whose}, on a copy of the work tree (${code}):\n${mask(command)}\n${untrustedText(effective.security.promptInjection, cut)}`,
  });
  return { end: 'done' };
}

/** Version control has ways of its own; said before anything is copied, and held by the sandbox whatever is read. */
function withheld(command: string) {
  const reading = commandsOf(command);
  if (!reading.ok) return {};
  const program = reading.commands.map(({ argv }) => argv[0]?.literal ?? '').find(isVersionControl);
  if (program === undefined) return {};
  const message = `\`${program}\` is not to be had as a command here: \`/diff\` shows what was changed, a terminal of your own does the rest`;
  return { refusal: refusal(message, { reason: 'withheld', program }) };
}

/** SANDBOX_NONE_REFUSED for one that confines nothing where the network is to be closed. */
function requireConfined({ unconfined, name }: SandboxBackend, networkAccess: 'allow' | 'deny'): void {
  if (!unconfined || networkAccess === 'allow') return;
  throw new WritError('SANDBOX_NONE_REFUSED', {
    message: `\`--sandbox ${name}\` cannot keep a command from the network`,
    hints: ['`/network allow` first', `or a session without \`--sandbox ${name}\``],
  });
}

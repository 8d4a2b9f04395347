/** Answers a question without changing anything. */
import { converse } from '../../agent/converse.ts';
import { openTurns } from '../../agent/model-loop/model-turns.ts';
import { openWeb } from '../../agent/web/open-web.ts';
import { webTool } from '../../agent/web/search-web.ts';
import { openTreeTools } from '../../agent/workspace-tools/tree-tools.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { Web } from '../../core/interfaces/worker.ts';
import {
  readDraftEnvironment,
  readDraftInstructions,
  readRequest,
} from '../../engine/draft/draft-request.ts';
import { openDrafter, readingAgentOf, requireDrafter } from '../../engine/draft/reading-agent.ts';
import { openWorker } from '../../engine/open/open-parties.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { guardingProfile, privacyPolicyOf } from '../../spec/facts.ts';
import { consentGround, personOf } from './consent.ts';
import { announcing, replyPieces } from './reply-pieces.ts';
import type { StepEnd, TurnScope } from './turn-scope.ts';
import { sendReviewed, sendRuns, untoldReviews, untoldRuns } from './untold.ts';

const maxKeptResult = 64 * 1024;

/** Answers a question: the model reads the repository and changes nothing in any context. */
export async function converseStep(scope: TurnScope, text: string): Promise<StepEnd> {
  const { setting, signal, state, emit, note, newId } = scope;
  const { engine, source, clock, repositoryPath } = setting;
  const reviewed = untoldReviews(scope, 'talk');
  const question = await readRequest(text);
  const runId = uuidV7(clock.now());
  const worker = requireDrafter(await openWorker(engine, source), source.worker);
  const ground = await readDraftEnvironment(engine, {
    repositoryPath,
    runId,
    target: await setting.target(),
  });
  await using opened = await openDrafter(engine, worker, setting.run, ground);
  const effective = guardingProfile(clock.now());
  const guides = await readDraftInstructions(engine, ground, { runId, spec: effective });
  const turns = openTurns(
    {
      identity: { contract: { effective } },
      services: { signal, settings: { clock, meter: scope.meter() } },
    },
    opened.model,
  );
  const policy = privacyPolicyOf(effective, ground.config.redaction);
  const hands = openTreeTools({
    engine,
    repository: ground.repository,
    tree: ground.base.tree,
    runId,
    policy,
    signal,
  });
  const web = await openSearch(scope, { runId, effective, policy, secrets: opened.model.secrets });
  await using agent = await readingAgentOf(engine, ground, opened.model, {
    runId,
    effective,
    policy,
    sandbox: setting.sandbox,
    signal,
    settings: { clock, meter: scope.meter() },
  });
  if (reviewed !== undefined) await sendReviewed(scope, reviewed, 'talk');
  const ran = untoldRuns(scope);
  if (ran !== undefined) await sendRuns(scope, ran);
  // Partial replies are shown but not stored; `message` has the whole reply.
  const reply = replyPieces((report) => void emit(report).catch(() => undefined), newId);
  const announced = announcing((report) => void emit(report).catch(() => undefined), newId);
  const ended = await converse({
    system: guides.text === undefined ? setting.instructions : [...setting.instructions, guides.text],
    before: state().dialogue,
    question,
    cacheKey: sha256Hex(`converse\n${state().ground.threadId}`),
    hands,
    ...(web && { web }),
    turns,
    ...(agent === undefined ? {} : { agent }),
    told: {
      text: (piece) => reply.hear({ type: 'text', text: piece }),
      event(event) {
        announced(event);
        if (event.type !== 'text') reply.hear(event);
      },
      async message(message) {
        await emit({ type: 'exchanged', message: shortened(message) });
        if (message.role !== 'assistant') return;
        if (message.text !== '') await emit({ type: 'replied', id: reply.id(), text: message.text });
        reply.next();
      },
    },
  });
  // Notices of a provider beside its replies, for example about another provider's reasoning that could not be passed
  // on.
  for (const notice of turns.taken().notices)
    if (!state().transcript.some(({ kind, content }) => kind === 'info_note' && content === notice))
      await note('Note', notice);
  return ended.kind === 'answered' ? { end: 'done' } : { end: 'failed', reason: ended.reason };
}

/** A dialogue message with shortened tool results, as it is stored. */
function shortened(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') return message;
  return {
    ...message,
    results: message.results.map((one) =>
      one.text.length <= maxKeptResult
        ? one
        : {
            ...one,
            text: `${one.text.slice(0, maxKeptResult)}\n[left out: the rest of ${one.text.length} characters]`,
          },
    ),
  };
}

/** What a question is answered under. */
interface QuestionGround {
  readonly runId: string;
  readonly effective: EffectiveIntentSpec;
  readonly policy: PrivacyPolicy;
  /** Credentials of the model's provider. */
  readonly secrets: readonly string[];
}

/**
 * Opens web search for a question, if the person allowed the session's network. A question has no spec, so no domain
 * list applies. Pages cannot be read: an address of any host could carry out text that the model has read.
 */
async function openSearch(
  scope: TurnScope,
  { runId, effective, policy, secrets }: QuestionGround,
): Promise<Web | undefined> {
  const { setting, signal } = scope;
  const { engine, clock, networkAccess } = setting;
  if (networkAccess !== 'allow') return undefined;
  const { constraints, evidence, security } = effective;
  const person = personOf(scope, await consentGround(setting, { networkAccess, hosts: [] }, () => undefined));
  const ground = {
    runId,
    effective: {
      ...effective,
      constraints: { ...constraints, security: { ...constraints.security, networkPolicy: networkAccess } },
      evidence: {
        ...evidence,
        strategy: 'open-web' as const,
        domainAllowlistMode: 'disabled' as const,
        trustTiers: [...evidence.trustTiers, 'web' as const],
      },
      security: {
        ...security,
        toolAcl: {
          ...security.toolAcl,
          allow: [
            ...security.toolAcl.allow,
            { tool: webTool, actions: ['search' as const], constraints: {} },
          ],
        },
      },
    },
    policy,
    signal,
    settings: { ...setting.run, clock },
    secrets,
  };
  return openWeb(ground, {
    strategy: await engine.slots.evidence.pick('open-web'),
    place: { workspace: setting.repositoryPath },
    tools: {
      engine,
      nowMs: () => clock.now(),
      mask: (text) => redactTexts(text, policy),
      signal,
      consent: (request) => person.consent(request, signal),
    },
    repositoryUses: () => 0,
  });
}

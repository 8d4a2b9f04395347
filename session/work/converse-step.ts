/** Talks with a model: it answers, asks back, or drafts a spec that the person confirms. It changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import { converse } from '../../agent/converse.ts';
import type { OpenMcp } from '../../agent/mcp/mcp-tools.ts';
import type { Talk } from '../../agent/submit-draft.ts';
import { openWeb } from '../../agent/web/open-web.ts';
import { webTool } from '../../agent/web/search-web.ts';
import { draftReview } from '../../api/intent/lifecycle.ts';
import { sha256Hex } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import type { Person } from '../../core/interfaces/hook-payload.ts';
import type { EffectiveAcceptance } from '../../core/interfaces/intentspec.gen.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { Web } from '../../core/interfaces/worker.ts';
import { uncommittedMcp } from '../../engine/config/mcp-section.ts';
import { type DraftedIntent, draftIntent } from '../../engine/draft/draft-intent.ts';
import { messageBounds, readRequest } from '../../engine/draft/draft-request.ts';
import {
  openReading,
  type Reading,
  type SkillReader,
  withAttached,
} from '../../engine/draft/reading-agent.ts';
import { openTalkMcp } from '../../engine/draft/reading-mcp.ts';
import {
  documentEdits,
  draftPath,
  editSentence,
  keepDraft,
  readDraft,
} from '../../engine/draft/stored-draft.ts';
import { alwaysStricter } from '../../engine/intent/draft/drafted-contract.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { checkLists } from '../../spec/checks-of.ts';
import { unusualFacts } from '../../spec/facts.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { uncommittedWords } from '../screen/words.ts';
import type { SessionSkill } from '../state/fact.ts';
import { pursuedGoal } from '../state/goal.ts';
import type { DraftEssence } from '../state/question.ts';
import { type Attachment, readAttached } from '../thread/attachments.ts';
import { threadDirectory } from '../thread/open-thread.ts';
import { consentGround, personOf } from './consent.ts';
import { holdGoal, patiently } from './goal-turn.ts';
import { announcing, replyPieces } from './reply-pieces.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { sendReviewed, sendRuns, untoldReviews, untoldRuns } from './untold.ts';

const maxKeptResult = 64 * 1024;
/** Attachments of earlier messages that the model can read again. */
const maxEarlier = 10;
/** Characters of an objective; its octets are counted where it comes from. */
const goalBounds = { least: 1, most: 16 * 1024 } as const;

/** Begins the subject of the question whether a draft is what the person meant. */
export const reviewSubject = 'review ';

/** Answers a question: the model reads the repository and changes nothing in any context. */
export async function converseStep(scope: TurnScope, text: string): Promise<StepEnd> {
  const { setting, note } = scope;
  const question = await readRequest(text, messageBounds);
  await tellBefore(scope);
  await using reading = await openReading(setting.engine, {
    ...(await requestOf(scope)),
    runId: scope.newId(),
  });
  const web = await openSearch(scope, reading);
  await using mcp = await mcpOf(scope)(reading);
  const { guides, turns, agent } = reading;
  await tellInstructions(scope, reading);
  const { last, earlier } = await attachedTo(scope);
  const { text: texts, images, hands } = withAttached(reading, last, earlier);
  const talk = openTalk(scope);
  const ended = await converse({
    ...talk,
    system: guides.text === undefined ? talk.system : [...talk.system, guides.text],
    question: [question, ...texts].join('\n\n'),
    ...(images === undefined ? {} : { images }),
    cacheKey: cacheKeyOf(scope),
    hands,
    ...(web && { web }),
    ...(mcp?.door && { mcp: mcp.door }),
    turns,
    ...(agent === undefined ? {} : { agent }),
  });
  // Notices of a provider beside its replies, for example about another provider's reasoning that could not be passed
  // on.
  for (const notice of turns.taken().notices)
    if (!scope.state().transcript.some(({ kind, content }) => kind === 'info_note' && content === notice))
      await note('Note', notice);
  return ended.kind === 'nothing' ? { end: 'failed', reason: ended.reason } : { end: 'done' };
}

/** Records which instruction files and skills the model is given, if they are other ones than before. */
async function tellInstructions(
  { state, emit }: Pick<TurnScope, 'state' | 'emit'>,
  { guides, skills: offered }: Pick<Reading, 'guides' | 'skills'>,
): Promise<void> {
  const { instructions, skills: before } = state();
  const files = guides.files.map(({ path, sha256 }) => ({ path, sha256 }));
  const read = new Set(before.flatMap((one) => (one.isRead ? [`${one.path} ${one.sha256}`] : [])));
  const skills = offered.map((one): SessionSkill => {
    return read.has(`${one.path} ${one.sha256}`) ? { ...one, isRead: true } : one;
  });
  if (isDeepStrictEqual([files, skills], [instructions, before])) return;
  await emit({ type: 'instructed', files, ...(skills.length === 0 ? {} : { skills }) });
}

/** The skills that the conversation holds, and how those that the model reads are recorded. */
function skillsOf({ state, emit }: Pick<TurnScope, 'state' | 'emit'>): Required<SkillReader> {
  return {
    skillsRead: state().skills.filter(({ isRead }) => isRead),
    async skillRead({ path }) {
      const { instructions: files, skills } = state();
      const read = skills.map((one): SessionSkill => (one.path === path ? { ...one, isRead: true } : one));
      if (!isDeepStrictEqual(read, skills)) await emit({ type: 'instructed', files, skills: read });
    },
  };
}

/** What came with the last message of the thread, and with those before it that are still shown. */
async function attachedTo({ setting, state }: Pick<TurnScope, 'setting' | 'state'>) {
  const { transcript, ground } = state();
  const [last = [], ...before] = transcript
    .flatMap(({ kind, metadata }) => (kind === 'user_message' ? [metadata] : []))
    .map(({ attachments = [] }) => attachments as readonly Attachment[])
    .toReversed();
  const directory = threadDirectory(
    await openRepository(setting.repositoryPath, { onlyReads: true }),
    ground.threadId,
  );
  const earlier = before.flat().slice(0, maxEarlier).toReversed();
  return { last: await readAttached(directory, last), earlier: await readAttached(directory, earlier) };
}

/** Sends the model what the person did since the last question: reviews of changes, and own commands. */
async function tellBefore(scope: TurnScope): Promise<void> {
  const tables = await uncommittedMcp(scope.setting.repositoryPath);
  if (tables.length > 0) scope.noteOnce('MCP', uncommittedWords(tables));
  const reviewed = untoldReviews(scope, 'talk');
  if (reviewed !== undefined) await sendReviewed(scope, reviewed, 'talk');
  const ran = untoldRuns(scope);
  if (ran !== undefined) await sendRuns(scope, ran);
}

async function requestOf(scope: TurnScope) {
  const { setting, meter } = scope;
  return {
    ...settingsOfRun(scope),
    ...skillsOf(scope),
    source: setting.source,
    target: await setting.target(),
    meter: meter(),
  };
}

function cacheKeyOf({ state }: TurnScope): string {
  return sha256Hex(`converse\n${state().ground.threadId}`);
}

/** The conversation of the thread, and how its next messages are shown and stored. */
function openTalk({ setting, state, emit, newId, note }: TurnScope): Talk {
  // Partial replies are shown but not stored; `message` has the whole reply.
  const reply = replyPieces((report) => void emit(report).catch(() => undefined), newId);
  const announced = announcing((report) => void emit(report).catch(() => undefined), newId);
  return {
    system: setting.instructions,
    before: state().dialogue,
    told: {
      event(event) {
        announced(event);
        reply.hear(event);
      },
      async message(message) {
        // An image is kept by its digest, and not in the conversation.
        const { images: _, ...kept } = message.role === 'user' ? message : { ...message, images: undefined };
        await emit({ type: 'exchanged', message: shortened(kept as ModelMessage) });
        if (message.role !== 'assistant') return;
        if (message.text !== '') await emit({ type: 'replied', id: reply.id(), text: message.text });
        reply.next();
      },
      helper: (question) => note('Helper', question),
    },
  };
}

/**
 * Has a model answer the user's messages, or draft a spec from them. A draft is stored, and its confirmation is
 * prompted for; a later one of the same talk replaces it and shows the differences. For a goal only a draft counts.
 */
export async function draftStep(
  scope: TurnScope,
  words: readonly string[],
  wantsDraft = false,
): Promise<StepEnd> {
  const { setting, state, emit, newId } = scope;
  const { engine, source, clock, repositoryPath } = setting;
  const repository = await openRepository(repositoryPath);
  const said: string[] = [];
  const goal = pursuedGoal(state());
  for (const text of words)
    said.push(await readRequest(text, goal === undefined ? messageBounds : goalBounds));
  const isLater = words.length > 1;
  const before = isLater ? state().draft : undefined;
  const runId = before?.runId ?? newId();
  const kept = before === undefined ? undefined : readDraft(repository, runId);
  const ran = goal && untoldRuns(scope);
  if (goal === undefined) await tellBefore(scope);
  const attached = await attachedTo(scope);
  const request = {
    ...(await requestOf(scope)),
    runId,
    said,
    instructed: (given: Pick<Reading, 'guides' | 'skills'>) => tellInstructions(scope, given),
    attached: attached.last,
    earlier: attached.earlier,
    createdAt: toRfc3339(clock.now()),
    ...(ran === undefined ? {} : { context: [ran.text] }),
    ...(kept === undefined ? {} : { spent: kept.spent }),
  };
  const drafted = await patiently(scope, () =>
    goal === undefined
      ? draftIntent(engine, {
          ...request,
          talk: { ...openTalk(scope), answers: wantsDraft ? 'reminded' : 'at once' },
          openMcp: mcpOf(scope),
          cacheKey: cacheKeyOf(scope),
        })
      : draftIntent(engine, { ...request, criteria: goal.criteria }),
  );
  if (drafted === 'answered') return isLater ? promptAgain(scope, runId) : { end: 'done' };
  if (ran !== undefined) await sendRuns(scope, ran);
  const { contract, repairs, questions, lacks, verified, spent } = drafted;
  const { bytes: specBytes, digest, effective } = contract;
  const { write, wholeRepository } = drafted.scope;
  await keepDraft(repository, { runId, source, noMerge: false, specBytes, repairs, questions, spent });
  const revision = (before?.revision ?? 0) + 1;
  const { summary } = effective.intent;
  const intentId = effective.metadata.id;
  await emit({ type: 'drafted', draft: { runId, revision, said, summary, digest, intentId } });
  const held = goal && (await holdGoal(scope, goal, runId, verified));
  if (held !== undefined && 'end' in held) return held;
  const changes = kept === undefined ? [] : documentEdits(kept.specBytes, specBytes).map(editSentence);
  await emit({
    type: 'ask',
    subject: `${reviewSubject}${runId}`,
    kind: 'intent_review_choice',
    title: summary,
    description: draftReview({ ...drafted, ...(held === undefined ? {} : { criteria: held }) }),
    prompt: 'Is this what you mean?',
    metadata: {
      runId,
      revision,
      digest,
      riskLevel: effective.risk.level,
      path: draftPath(repository, runId),
      scope: wholeRepository ? ['the whole repository'] : write,
      checks: checksOf(effective.acceptance),
      networkPolicy: effective.constraints.security.networkPolicy,
      essence: essenceOf(drafted),
      repairs,
      questions,
      lacks,
      changes,
      ...(held === undefined ? {} : { criteria: held }),
    },
  });
  return 'waits';
}

/** A remark on a draft was answered in words: the draft waits as before. */
async function promptAgain({ state, emit }: TurnScope, runId: string): Promise<StepEnd> {
  const subject = `${reviewSubject}${runId}`;
  const asked = state().interactions.findLast((one) => one.subject === subject);
  if (asked === undefined) return { end: 'done' };
  const { id: _, status: __, requestedAtMs: ___, resolvedAtMs: ____, ...question } = asked;
  await emit({ type: 'ask', ...question });
  return 'waits';
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

/** Ids of the checks, in the order in which they run. */
function checksOf({ verificationPlan }: EffectiveAcceptance): readonly string[] {
  const { fastChecks, integrationChecks, securityChecks, releaseChecks } = verificationPlan;
  return [fastChecks, integrationChecks, securityChecks, releaseChecks].flat().map(({ id }) => id);
}

/** The parts of a drafted spec that a person reviews, without the defaults of its risk level. */
function essenceOf({
  contract: { effective },
  repairs,
}: Pick<DraftedIntent, 'contract' | 'repairs'>): DraftEssence {
  const { intent, acceptance, risk } = effective;
  return {
    problem: intent.problemStatement,
    objectives: intent.objectives,
    acceptedWhen: acceptance.successCriteria,
    checks: checkLists.flatMap((list) =>
      acceptance.verificationPlan[list].map(({ id, command }) => ({
        id,
        stage: list.replace('Checks', ''),
        ...(command === undefined ? {} : { command }),
      })),
    ),
    rationale: risk.rationale,
    factors: risk.factors,
    unusual: unusualFacts(effective),
    stricter: repairs.filter((one) => one !== alwaysStricter),
  };
}

/** Opens the MCP servers of a talk: the person approves each server and tool once, with what it reaches. */
function mcpOf(scope: TurnScope): (reading: Reading) => Promise<OpenMcp | undefined> {
  const { setting, signal, newId } = scope;
  const { engine, clock, networkAccess, sandbox } = setting;
  let person: Promise<Person> | undefined;
  const prompted = async (): Promise<Person> =>
    personOf(scope, await consentGround(setting, { networkAccess, hosts: [] }, () => undefined));
  return (reading) =>
    openTalkMcp(engine, reading, {
      ...setting.run,
      ...{ clock, signal, sandbox, networkPolicy: networkAccess, runId: newId() },
      async consent(request) {
        person ??= prompted();
        return (await person).consent(request, signal);
      },
    });
}

/**
 * Opens web search for a question, if the person allowed the session's network. A question has no spec, so no domain
 * list applies. Pages cannot be read: an address of any host could carry out text that the model has read.
 */
async function openSearch(
  scope: TurnScope,
  { effective, policy, model: { secrets } }: Pick<Reading, 'effective' | 'policy' | 'model'>,
): Promise<Web | undefined> {
  const { setting, signal } = scope;
  const { engine, clock, networkAccess } = setting;
  if (networkAccess !== 'allow') return undefined;
  const { constraints, evidence, security } = effective;
  const person = personOf(scope, await consentGround(setting, { networkAccess, hosts: [] }, () => undefined));
  const ground = {
    runId: scope.newId(),
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

/** Agent profiles: the embedded ones, and how those of a project or user are found and parsed. */
import { readdirSync } from 'node:fs';
import { messageOf, WritError } from '../core/base/errors.ts';
import { findDirectory, type Place, readPlainFile } from '../core/base/files.ts';
import { nearestName } from '../core/base/printable.ts';
import { type ConfigIssue, readDocument, type TableReader } from '../engine/config/table-reader.ts';

/** Sources of profiles; the first source that has a name wins. */
const agentTiers = ['project', 'user', 'embedded'] as const;
type AgentTier = (typeof agentTiers)[number];

/** The instructions and limits of a model in a session. A profile can only remove rights. */
export interface AgentProfile {
  readonly name: string;
  readonly tier: AgentTier;
  /** One line. */
  readonly description: string;
  /** Instructions for the model. Those of a project are untrusted words of the repository. */
  readonly instructions: string;
  /** Whether a session may be started with it; else only another agent calls it. */
  readonly primary: boolean;
  /** `any`: that of the session. */
  readonly context: 'any' | 'dev' | 'review' | 'research';
  /** `read`: tools that change something are not there. */
  readonly tools: 'all' | 'read';
  /** Absent: the session's own model. */
  readonly binding?: AgentBinding;
}

/** `provider/model[@variant]`. */
interface AgentBinding {
  readonly provider: string;
  readonly model: string;
  /** How hard it thinks, where its provider has a flag for that. */
  readonly variant?: string;
}

/** What a profile may be called; its file is `<name>.toml`. */
function isAgentName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(text);
}

/** Directories of profiles: of the project and of the user. */
export type AgentPlaces = Readonly<Record<Exclude<AgentTier, 'embedded'>, Place>>;

const ending = '.toml';
const maxFiles = 256;

/**
 * The profile of that name: the project's, else the user's, else the embedded one. A project's has no right that the
 * one behind it lacks. AGENT_UNKNOWN with the names that there are; AGENT_INVALID for one that is malformed, a link, or
 * no file.
 */
export function findAgent(name: string, places: AgentPlaces): AgentProfile {
  const found = lookUp(name, places);
  if (found !== undefined) return found;
  throw unknown(name, allAgents(places), notHere);
}

const notHere = 'no agent profile `%` is here';

function lookUp(name: string, places: AgentPlaces): AgentProfile | undefined {
  if (!isAgentName(name)) return undefined;
  const behind = readAgent(name, 'user', places) ?? embeddedAgents.find((one) => one.name === name);
  const project = readAgent(name, 'project', places);
  return project === undefined ? behind : notWider(project, behind);
}

function readAgent(
  name: string,
  tier: Exclude<AgentTier, 'embedded'>,
  places: AgentPlaces,
): AgentProfile | undefined {
  const bytes = guarded(name, tier, () => readPlainFile(within(places[tier], name), maxAgentBytes));
  return bytes === undefined ? undefined : parseAgent(bytes, name, tier);
}

/** A profile of a cloned repository cannot widen the rights of the profile that it hides. */
function notWider(project: AgentProfile, behind: AgentProfile | undefined): AgentProfile {
  if (behind === undefined) return project;
  const readsOnly = (one: AgentProfile) => one.context === 'review' || one.context === 'research';
  return {
    ...project,
    context: readsOnly(behind) && !readsOnly(project) ? behind.context : project.context,
    tools: behind.tools === 'read' ? 'read' : project.tools,
  };
}

/** As `findAgent`, for who starts a session: AGENT_UNKNOWN for one that only other agents call. */
export function findPrimaryAgent(name: string, places: AgentPlaces): AgentProfile {
  const profile = lookUp(name, places);
  if (profile?.primary) return profile;
  const isCalled = 'agent profile `%` is for other agents to call, and starts no session';
  throw unknown(name, primaryAgents(places), profile === undefined ? notHere : isCalled);
}

/** Names of all that there are, each once. */
function allAgents(places: AgentPlaces): readonly string[] {
  const names = [
    ...namesIn(places.project),
    ...namesIn(places.user),
    ...embeddedAgents.map(({ name }) => name),
  ];
  return [...new Set(names)].sort();
}

/** Names of those that start a session, each once; what cannot be read is left out. */
export function primaryAgents(places: AgentPlaces): readonly string[] {
  return allAgents(places).filter((name) => {
    try {
      return findAgent(name, places).primary;
    } catch {
      return false;
    }
  });
}

function namesIn(place: Place): readonly string[] {
  try {
    const directory = findDirectory(place);
    if (directory === undefined) return [];
    return readdirSync(directory)
      .slice(0, maxFiles)
      .flatMap((file) => {
        const name = file.slice(0, -ending.length);
        return file.endsWith(ending) && isAgentName(name) ? [name] : [];
      });
  } catch {
    return [];
  }
}

function within({ root, parts }: Place, name: string): Place {
  return { root, parts: [...parts, `${name}${ending}`] };
}

/** Refuses what is not a regular file in plain directories. */
function guarded(name: string, tier: AgentTier, read: () => Buffer | undefined): Buffer | undefined {
  try {
    return read();
  } catch (cause) {
    throw agentInvalid(name, tier, [{ path: '', message: messageOf(cause) }], cause);
  }
}

function unknown(name: string, names: readonly string[], sentence: string): WritError {
  const near = nearestName(name, names);
  return new WritError('AGENT_UNKNOWN', {
    message: sentence.replace('%', () => name.slice(0, 80)),
    detail: { agent: name.slice(0, 80), expected: names },
    hints: near === undefined ? [] : [`did you mean \`${near}\`?`],
  });
}

/** Profiles that come with writ, by their names. */
export const embeddedAgents: readonly AgentProfile[] = [
  {
    name: 'coder',
    tier: 'embedded',
    description: 'makes the change: reads first, edits little, runs the tests',
    instructions: `You make changes to this repository.
Read what the change touches before you edit it, and keep to the style that is there.
Change no more than what was asked for. Where the request can mean two things, ask.
Run the tests that cover what you changed, and say what you ran and what came of it.
What you did not verify, call unverified.`,
    primary: true,
    context: 'any',
    tools: 'all',
  },
  {
    name: 'planner',
    tier: 'embedded',
    description: 'plans a change and makes none',
    instructions: `You plan changes to this repository and make none.
Read the code that the request is about, then give the steps in the order in which they are to be done:
for each the files, what changes in them, and how it is checked that it is right.
Name what may break, and every decision that a person has to make.`,
    primary: true,
    context: 'any',
    tools: 'read',
  },
  {
    name: 'reviewer',
    tier: 'embedded',
    description: 'reviews a change: faults first, with place and reason',
    instructions: `You review changes to this repository and edit nothing.
Look for what is wrong: behaviour, security, lost or weakened tests, then what is hard to understand.
Each finding has a file and a line, what happens there, and an input or an order of events that shows it.
Say what you looked at and what you did not. Where nothing is wrong, say so.`,
    primary: true,
    context: 'review',
    tools: 'read',
  },
  {
    name: 'explorer',
    tier: 'embedded',
    description: 'answers a question about the code for another agent',
    instructions: `You answer one question about this repository, for another agent that will act on it.
Search, read and follow what calls what. Answer with files and lines and their content, as short as it can be.
What you did not find, say; guess nothing.`,
    primary: false,
    context: 'research',
    tools: 'read',
  },
];

/** Octets of a profile. */
export const maxAgentBytes = 64 * 1024;
const maxInstructions = 32 * 1024;

const contexts = ['any', 'dev', 'review', 'research'] as const;
const tools = ['all', 'read'] as const;

/**
 * The profile in `bytes` (docs/reference/agents.md). Unknown keys, wrong types, words that are none of these:
 * AGENT_INVALID with all issues. It has no key for approvals or the network: what a repository brings along cannot
 * loosen them.
 */
export function parseAgent(bytes: Uint8Array, name: string, tier: AgentTier): AgentProfile {
  const invalid = (issues: readonly ConfigIssue[], cause?: unknown): WritError =>
    agentInvalid(name, tier, issues, cause);
  return readDocument(bytes, { maxBytes: maxAgentBytes, invalid }, (table) => {
    for (const key of ['description', 'instructions'])
      if (!table.has(key)) table.refuse(key, 'it is missing');
    const binding = readBinding(table);
    return {
      name,
      tier,
      description: table.text('description', ''),
      instructions: table.prose('instructions', '', maxInstructions),
      primary: table.flag('primary', false),
      context: oneOf(table, 'context', contexts),
      tools: oneOf(table, 'tools', tools),
      ...(binding === undefined ? {} : { binding }),
    };
  });
}

/** Builds AGENT_INVALID with the place and the cause. */
function agentInvalid(
  name: string,
  tier: AgentTier,
  issues: readonly ConfigIssue[],
  cause?: unknown,
): WritError {
  const [first] = issues;
  const where = first === undefined || first.path === '' ? '' : ` at \`${first.path}\``;
  return new WritError('AGENT_INVALID', {
    message: `the ${tier}’s agent profile \`${name}\` cannot be used${where}: ${first?.message ?? ''}`,
    detail: { agent: name, tier, issues },
    hints: ['`writ help agents` has every key'],
    cause,
  });
}

function oneOf<Word extends string>(
  table: TableReader,
  key: string,
  words: readonly [Word, ...Word[]],
): Word {
  const given = table.text(key, words[0]);
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  table.refuse(table.at(key), `expected ${words.join(', ')}, found \`${given.slice(0, 80)}\``);
  return words[0];
}

/** The first slash ends the provider: models have slashes, too. */
function readBinding(table: TableReader): AgentBinding | undefined {
  const given = table.text('model', '');
  if (given === '') return undefined;
  const [, provider, model, variant] =
    /^([a-z0-9][a-z0-9-]{0,63})\/([A-Za-z0-9][\w./:-]{0,199})(?:@([a-z0-9][a-z0-9-]{0,31}))?$/.exec(given) ??
    [];
  if (provider !== undefined && model !== undefined)
    return { provider, model, ...(variant === undefined ? {} : { variant }) };
  table.refuse(table.at('model'), `expected \`provider/model[@variant]\`, found \`${given.slice(0, 80)}\``);
  return undefined;
}

import { readdirSync } from 'node:fs';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { nearestName } from '../../core/base/nearest-name.ts';
import { findDirectory, type Place, readPlainFile } from '../../core/base/plain-place.ts';
import { type AgentProfile, type AgentTier, isAgentName } from './agent-profile.ts';
import { embeddedAgents } from './embedded-agents.ts';
import { agentInvalid, maxAgentBytes, parseAgent } from './parse-agent.ts';

/** Directories of profiles: of the project and of the user. */
export type AgentPlaces = Readonly<Record<Exclude<AgentTier, 'embedded'>, Place>>;

const ending = '.toml';
/** Whoever has more of them is read no further. */
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

/** Who asks for `reviewer` in a repository that he cloned gets none that writes. */
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

/** What is no plain file in plain directories is refused. */
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

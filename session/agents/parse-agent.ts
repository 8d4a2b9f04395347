import { WritError } from '../../core/base/errors.ts';
import { parseToml } from '../../engine/config/parse-toml.ts';
import { type ConfigIssue, TableReader } from '../../engine/config/table-reader.ts';
import type { AgentBinding, AgentProfile, AgentTier } from './agent-profile.ts';

/** Octets of a profile. */
export const maxAgentBytes = 64 * 1024;
const maxInstructions = 32 * 1024;

const contexts = ['any', 'dev', 'review', 'research'] as const;
const tools = ['all', 'read'] as const;

/**
 * The profile in `bytes` (docs/agents.md). Unknown keys, wrong types, words that are none of these: AGENT_INVALID with
 * all issues. It has no key for approvals or the network: what a repository brings along cannot loosen them.
 */
export function parseAgent(bytes: Uint8Array, name: string, tier: AgentTier): AgentProfile {
  const issues: ConfigIssue[] = [];
  const invalid = (found: readonly ConfigIssue[], cause?: unknown): WritError =>
    agentInvalid(name, tier, found, cause);
  const table = new TableReader(parseToml(bytes, maxAgentBytes, invalid), '', issues);
  for (const key of ['description', 'instructions']) if (!table.has(key)) table.refuse(key, 'it is missing');
  const binding = readBinding(table);
  const profile: AgentProfile = {
    name,
    tier,
    description: table.text('description', ''),
    instructions: table.prose('instructions', '', maxInstructions),
    primary: table.flag('primary', false),
    context: oneOf(table, 'context', contexts),
    tools: oneOf(table, 'tools', tools),
    ...(binding === undefined ? {} : { binding }),
  };
  table.end();
  if (issues.length > 0) throw invalid(issues);
  return profile;
}

/** AGENT_INVALID that says what is wrong where. */
export function agentInvalid(
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
    hints: ['docs/agents.md has every key'],
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

import { heldBy, ofSession, type SessionRow } from './session-row.ts';

const section = 'Options';
const options = 'test/bin/code/options.test.ts';
const each = 'every option and alias sets its documented value';
const filled = 'session options come from the command line, profile, environment and policy';

/** Every option of `writ code`, its other names and its default. */
export const optionRows: readonly SessionRow[] = [
  ...heldBy(section, options, each, {
    'option --web-only': 'the server without a screen',
    'option --web': 'the same',
    'option --port': 'listen port, `-p` too',
    'option --host': 'bind address, a literal or localhost',
    'option --cwd': 'where the session works',
    'option --control-token-file': 'where the token is put',
    'option --control-info-file': 'where the discovery file is put',
    'option --provider': 'the backend',
    'option --model': 'its model',

    'option --context': 'dev, review, research and their other names',
    'option --resume': 'the thread that goes on',
    'option --approval-policy': 'one of five, by nine names',
    'option --approval-ttl': 'seconds; over the configuration',
    'option --network-access': 'allow or deny',
    'option --mcp-port': 'MCP listen port',
    'option --stdio': 'MCP on standard input and output',
    'option --mcp-stdio': 'the same',
    'option --acp': 'an editor on standard input and output',
    'option --browser-control': 'off or loopback',
    'option --control': 'observe or write',
  }),
  ...heldBy(
    section,
    'test/bin/code/print-session.test.ts',
    '`--print` prints the answer alone, with standard input attached',
    {
      'option --print': 'one message without a screen',
      'option --continue': 'the thread that was used last',
    },
  ),
  ...heldBy(
    section,
    'test/bin/code/print-session.test.ts',
    '`--print` executes a change of low risk, and its exit code is that of a run',
    { 'option --events': 'each entry as a JSON line' },
  ),
  ...heldBy(
    section,
    'test/bin/code/print-session.test.ts',
    '`--yes` executes a draft that a person would decide',
    { 'option --yes': 'executes what was drafted' },
  ),
  ...heldBy(
    section,
    ofSession('tui/theme'),
    'the plain theme writes a tone as one word unless the text has it already',
    { 'option --plain': 'words in place of colours and signs' },
  ),
  ...heldBy(
    section,
    ofSession('work/plan-talk'),
    'a session that sets local changes aside merges them back into the change',
    {
      'option --local-changes': 'stop, set-aside or include; default stop',
    },
  ),
  ...heldBy(section, options, 'an empty command line uses every default', {
    'default --port': '3000',
    'default --host': '127.0.0.1',
    'default --cwd': 'the current directory',
    'default --control': 'observe',
    'default --provider': 'P1: gemini',
    'default --approval-policy': 'on-request',
    'default --network-access': 'deny',
    'default --mcp-port': '6789',
  }),
  ...heldBy(section, options, filled, {
    'option --agent': 'a profile; its binding wins wholesale; three tiers; unknown ones are refused',
    'option --temperature': 'sampling temperature',
    'option --api-base': 'ask there',
    'option --ollama-thinking': 'P7: by option, else by `OLLAMA_THINK`',
    'option --thinking': 'the same',
    'option --ollama-compact-tools': 'P7: by option, else by `OLLAMA_COMPACT_TOOLS`',
    'option --deepseek-thinking': 'P4 alone',
    'option --deepseek-reasoning-effort': 'P4 alone; `xhigh` is max',
    'option --deepseek-stream': 'P4 alone',
    'option --stream': 'the same',
    'option --kimi-thinking': 'P5 alone',
    'option --kimi-stream': 'P5 alone',
    'option --codex-bin': 'P8 alone',
    'option --plan-mode': 'on for P8; true is refused for others, false is taken',
    'default --browser-control': 'loopback for --web-only with P8 on the loopback, else off',
    'default --approval-ttl': '`[approval] ttl_seconds` of the policy commit, else 300',
    'default --context': 'dev, or what the profile is for',
  }),
  ...heldBy(section, 'test/providers/sources.test.ts', 'each provider has its documented keys and flags', {
    'provider keys': 'names of keys and of base addresses, by provider',
  }),
  ...heldBy(
    section,
    'test/providers/find-key.test.ts',
    'the first place with a key wins, and within it the first name',
    {
      'option --env-file': 'over repository vault, user vault and environment',
      'credentials order': 'env-file, repository vault, user vault, environment',
    },
  ),
  ...heldBy(section, options, 'contradictory or invalid options are usage errors with a reason', {
    'limit --goal': 'non-empty after trimming, at most 16 KiB',
  }),
  ...heldBy(
    section,
    'test/providers/chat-formats.test.ts',
    'DeepSeek streams only if requested, and Kimi unless disabled',
    {
      'default --deepseek-stream': 'false',
      'default --kimi-stream': 'true',
    },
  ),
  ...heldBy(section, 'test/agent/codex/port.test.ts', 'a server at a sandbox port accepts no other client', {
    'option --codex-port':
      'P8 alone; a port of the loopback of its sandbox, into which no command there gets',
  }),
  ...heldBy(
    section,
    'test/session/work/codex.test.ts',
    'Codex drafts, plans and makes the change, each after the answer of the user',
    {
      'P8 session': 'drafts, plans and works, each after its answer',
    },
  ),
  ...heldBy(
    section,
    'test/session/work/codex.test.ts',
    'without plan mode Codex executes a confirmed spec without a question about its plan',
    {
      'P8 --plan-mode=false': 'executed without an approved plan',
    },
  ),
  ...heldBy(section, 'test/bin/code/codex-session.test.ts', 'a browser steers a session with Codex', {
    'P8 --browser-control': 'loopback with --web-only, where the line says nothing',
  }),
  ...heldBy(
    section,
    'test/bin/code/request-id.test.ts',
    'each request to a local model logs its id, whether it succeeds or fails',
    {
      'P7 request_id': 'a `request_id` of each request in the debug log',
    },
  ),
  ...heldBy('Context modes', options, filled, {
    'context dev': 'may change and may have a network',
    'context review': 'only reads, never a network',
    'context research': 'only reads, never a network',
  }),
  ...heldBy('Context modes', options, each, {
    'context development': 'dev',
    'context code-review': 'review',
    'context explore': 'research',
  }),
  ...heldBy(
    'Context modes',
    ofSession('state/converse'),
    'a session in review context cannot open the network by an answer',
    {
      'context read-only': 'no answer opens the network there',
    },
  ),
];

import type { CommandData } from '../command.ts';
import { list, record, runMembers } from './run-schema.ts';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const flag = { type: 'boolean' } as const;

const issue = record({ code: text, path: text, message: text, severity: { enum: ['error', 'warning'] } });
const run = record(runMembers.required, runMembers.optional);
const checkOutcome = {
  type: 'object',
  required: ['id', 'status'],
  properties: { id: text, status: text, code: text, detail: {} },
};

/** Required members are promised; a command may add others. */
function atLeast(properties: Readonly<Record<string, unknown>>): CommandData {
  return { type: 'object', required: Object.keys(properties), properties };
}

const shapes: Readonly<Record<string, CommandData>> = {
  init: atLeast({ state_dir: text, key_id: text, ledger_origin: text }),
  'spec new': record({ path: text, digest: sha256 }, { spec: { type: 'object' } }),
  'spec validate': record({
    files: list(
      record({ path: text, valid: flag, issues: list(issue), digest: { anyOf: [sha256, { type: 'null' }] } }),
    ),
  }),
  'spec digest': record({ path: text, digest: sha256 }),
  'spec canonical': record({ path: text, canonical: text, digest: sha256 }),
  'spec show': record({ path: text, digest: sha256, markdown: text }),
  'spec schema': record({ schema: { type: 'object' } }),
  plan: atLeast({
    tasks: { type: 'array' },
    edges: { type: 'array' },
    scope: { type: 'object' },
    ledger: { type: 'array' },
  }),
  run,
  runs: atLeast({
    runs: list(atLeast({ run_id: text, state: runMembers.required.state, started_at: text })),
  }),
  show: run,
  report: record({ paths: list(text) }),
  verify: atLeast({ verified: flag, checks: list(checkOutcome), expected: count, ran: count }),
  schema: record({ command: text, schema: { type: 'object' } }),
  doctor: atLeast({ checks: list(checkOutcome) }),
  demo: {
    ...run,
    required: [...Object.keys(runMembers.required), 'verified'],
    properties: { ...runMembers.required, ...runMembers.optional, verified: flag },
    additionalProperties: true,
  },
  help: record({ text }),
  version: record({ version: text }),
};

/** JSON Schema (2020-12) of each command's `data`, by command name; `help` and `version` are the global options' data. */
export const outputSchemas: Readonly<Record<string, CommandData>> = Object.fromEntries(
  Object.entries(shapes).map(([command, shape]) => [
    command,
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:writ:data:${command.replace(' ', '-')}`,
      title: `data of \`writ ${command}\``,
      ...shape,
    },
  ]),
);

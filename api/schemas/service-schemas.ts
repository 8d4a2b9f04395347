import type { JsonData } from '../json-data.ts';
import { count, flag, list, moment, record, text } from './shape.ts';

const pid = { type: 'integer', minimum: 1 } as const;

/** Shapes of `data` of the commands that serve, and of those that talk to what is served. */
export const serviceShapes: Readonly<Record<string, JsonData>> = {
  'service run': record({
    pid,
    base_url: text,
    working_dir: text,
    started_at: moment,
    discovery_file: text,
    token_file: text,
  }),
  code: {
    anyOf: [
      record(
        {
          pid,
          base_url: text,
          mcp_url: text,
          mcp_token_file: text,
          thread_id: text,
          working_dir: text,
          provider: text,
        },
        { model: text, token_file: text, info_file: text },
      ),
      record({
        threads: list(
          record(
            {
              id: text,
              created_at: moment,
              updated_at: moment,
              state: { enum: ['open', 'closed', 'damaged'] },
            },
            { title: text, current_intent_id: text },
          ),
        ),
        has_more: flag,
      }),
    ],
  },
  'service status': record(
    {
      running: flag,
      state: { enum: ['running', 'stale', 'stopped'] },
      health: { enum: ['ok', 'unreachable', 'stale'] },
    },
    { pid, base_url: text, started_at: moment, working_dir: text, token_file: text },
  ),
  'service events': record({ events: count }),
  'code-control': record({ requests: count, events: count }),
  'service dirty': record({ marks: list(record({ path: text, marked_at: moment })), cleared: flag }),
};

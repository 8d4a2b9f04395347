/* JSON Schemas of the data of the `plugin` commands. */
import { partKindNames } from '../../plugins/third-party/part-kinds.ts';
import { count, flag, list, record, sha256, text } from './shape.ts';

const digest = { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' } as const;

const part = record({ kind: text, name: text });

/** Shapes of `writ plugin …`. */
export const pluginShapes = {
  'plugin list': record({
    plugins: list(
      record(
        {
          name: text,
          source: { enum: ['built-in', 'path', 'package'] },
          status: { enum: ['loaded', 'trusted', 'untrusted', 'changed', 'missing', 'uncommitted'] },
          enforces: list(text),
          rules: list(text),
          parts: list(part),
          needs: list(text),
        },
        { place: text, version: text, digest, found_digest: digest },
      ),
    ),
  }),
  'plugin new': record({ path: text, name: text, files: list(text) }),
  'plugin test': record({
    name: text,
    version: text,
    digest,
    needs: list(text),
    rules: list(record({ id: text, cases: { type: 'integer', minimum: 0 }, failures: list(text) })),
    parts: list(
      record({
        kind: { enum: partKindNames },
        name: text,
        cases: { type: 'integer', minimum: 0 },
        failures: list(text),
      }),
    ),
  }),
  'plugin add': record(
    {
      name: text,
      version: text,
      digest,
      rules: list(text),
      parts: list(part),
      needs: list(text),
      kept: flag,
      changed: flag,
      files: list(text),
      next: list(text),
    },
    { path: text, package: text },
  ),
  'plugin pack': record({
    path: text,
    name: text,
    version: text,
    digest,
    sha256,
    size_bytes: count,
    files: list(record({ path: text, size_bytes: count })),
    left_out: list(text),
    config: text,
    rules: list(text),
    parts: list(part),
    needs: list(text),
  }),
  'plugin trust': record(
    { digest, trusted: flag, changed: flag, files: list(text), next: list(text) },
    { name: text, version: text, rules: list(text), parts: list(part), needs: list(text) },
  ),
} as const;

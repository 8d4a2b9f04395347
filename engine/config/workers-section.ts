/* `[workers]` and `[verdicts]`: checks on other machines, and results that are used again. */
import type { TableReader } from './table-reader.ts';

/** `[workers]`: checks run on other machines (docs/decisions/0040-checks-on-workers.md). */
export interface WorkersConfig {
  /** Git remote by name or URL through which jobs and results travel. */
  readonly content: string;
  /** Variable, or secret of the vault, that holds the address of the queue. */
  readonly queueAddress: string;
  /** Seconds without a worker. */
  readonly after: number;
  readonly fallback: 'local' | 'fail';
  /** Only workers with all of these labels count. */
  readonly labels: readonly string[];
  /** Secrets of checks travel to workers with this label; absent: to none. */
  readonly secrets?: string;
}

/** Reads `[workers]`; `undefined` without `queue`. Addresses with a password are refused: the file is tracked. */
export function readWorkersSection(reader: TableReader): WorkersConfig | undefined {
  if (!reader.has('queue')) return void reader.end();
  if (reader.text('queue', '') !== 'redis') reader.refuse(reader.at('queue'), 'expected "redis"');
  const content = reader.text('content', 'origin');
  if (content.startsWith('-') || /^[A-Za-z][\w+.-]*:\/\/[^/]*@/.test(content))
    reader.refuse(
      reader.at('content'),
      'expected a git remote or its URL without a user or password; git finds these by its credential helper',
    );
  const queueAddress = reader.text('queue_address', 'WRIT_QUEUE_URL');
  if (!/^[A-Z][A-Z0-9_]{0,99}$/.test(queueAddress))
    reader.refuse(
      reader.at('queue_address'),
      'expected the name of a variable or of a secret of the vault, never the address, which may hold a password',
    );
  const after = reader.integer('after', 60, 1, 86_400);
  const fallback = reader.text('fallback', 'fail');
  if (fallback !== 'local' && fallback !== 'fail')
    reader.refuse(reader.at('fallback'), 'expected "local" or "fail"');
  const labels = reader.texts('labels', []);
  const secrets = reader.has('secrets') ? reader.text('secrets', 'refused') : undefined;
  if (secrets !== undefined && !/^[\w.-]{1,100}$/.test(secrets))
    reader.refuse(reader.at('secrets'), 'expected the label of the workers that may get secrets');
  reader.end();
  return {
    ...{ content, queueAddress, after, fallback: fallback === 'local' ? fallback : 'fail', labels },
    ...(secrets === undefined ? {} : { secrets }),
  };
}

/** `[verdicts]`: results of checks that later runs reuse (docs/decisions/0042-reused-verdicts.md). */
export interface VerdictsConfig {
  /** Whose: of this engine, or of the workers. */
  readonly reuse: 'own' | 'workers';
  readonly maxAgeDays: number;
  /** Share of the reusable results that run again and are compared. */
  readonly percent: number;
}

/** Reads `[verdicts]`; `undefined` where nothing is reused. */
export function readVerdictsSection(reader: TableReader, hasWorkers: boolean): VerdictsConfig | undefined {
  const reuse = reader.text('reuse', 'off');
  const maxAgeDays = reader.integer('max_age_days', 7, 1, 365);
  const percent = reader.integer('sample_percent', 2, 0, 100);
  if (reuse !== 'off' && reuse !== 'own' && reuse !== 'workers')
    reader.refuse(reader.at('reuse'), 'expected "off", "own" or "workers"');
  else if (reuse !== 'off' && hasWorkers !== (reuse === 'workers'))
    reader.refuse(
      reader.at('reuse'),
      hasWorkers
        ? 'expected "workers" or "off": `[workers]` sends checks to workers, which sign their results'
        : 'expected "own" or "off": there is no `[workers] queue`',
    );
  reader.end();
  return reuse === 'own' || reuse === 'workers' ? { reuse, maxAgeDays, percent } : undefined;
}

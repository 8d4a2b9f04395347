import { type Fields, parseList, parseWord, toFields } from '../../core/base/parse-fields.ts';
import { type StageName, stageNames } from '../../core/contract/stage.ts';
import { parseModule, parseName } from './manifest-part.ts';
import type { PluginPackage } from './plugin-package.ts';

/** A check of the gate stages as the manifest declares it. */
export interface ManifestStageCheck {
  /** Its findings bear it as their rule. */
  readonly name: string;
  /** Exports `judge`. */
  readonly module: string;
  /** Where it is asked, of every contract; at least one. */
  readonly stages: readonly StageName[];
  /** Whether it is handed the diff. */
  readonly readsDiff: boolean;
  /** For one answer. */
  readonly timeoutSeconds: number;
}

const defaultTimeoutSeconds = 60;
const maxTimeoutSeconds = 600;

/** Reads one; throws on nonsense. */
export function parseStageCheck(item: unknown, pluginPackage: PluginPackage): ManifestStageCheck {
  const known = ['name', 'module', 'stages', 'readsDiff', 'timeoutSeconds'];
  const fields = toFields(item, 'a stage check', known);
  const name = parseName(fields, 'stage check');
  const what = `stage check \`${name}\``;
  const stages = parseList(
    fields.stages,
    (stage) => parseWord({ stage }, 'stage', stageNames),
    stageNames.length,
  );
  if (stages.length === 0 || new Set(stages).size !== stages.length)
    throw new TypeError(
      `${what}: expected \`stages\` to name one or more of ${stageNames.join(', ')}, each once`,
    );
  return {
    name,
    module: parseModule(fields, what, pluginPackage),
    stages,
    readsDiff: parseFlag(fields, what),
    timeoutSeconds: parseSeconds(fields, what),
  };
}

function parseFlag({ readsDiff = false }: Fields, what: string): boolean {
  if (typeof readsDiff === 'boolean') return readsDiff;
  throw new TypeError(`${what}: expected \`readsDiff\` to be true or false`);
}

function parseSeconds({ timeoutSeconds = defaultTimeoutSeconds }: Fields, what: string): number {
  if (typeof timeoutSeconds === 'number' && timeoutSeconds > 0 && timeoutSeconds <= maxTimeoutSeconds)
    return timeoutSeconds;
  throw new TypeError(`${what}: expected \`timeoutSeconds\` within 0 and ${maxTimeoutSeconds}`);
}

import { type StageName, stageNames } from '../../core/contract/stage.ts';
import { listAt, wordOf } from './at-member.ts';
import { parsePart, partFlag, partSeconds } from './manifest-part.ts';
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

/** Reads one; throws on nonsense. */
export function parseStageCheck(item: unknown, pluginPackage: PluginPackage): ManifestStageCheck {
  const part = parsePart(item, 'a stage check', ['stages', 'readsDiff', 'timeoutSeconds'], pluginPackage);
  const { name, module, what, fields } = part;
  const stages = listAt(fields, 'stages', (stage) => wordOf(stage, stageNames), stageNames.length);
  if (stages.length === 0 || new Set(stages).size !== stages.length)
    throw new TypeError(
      `${what}: expected \`stages\` to name one or more of ${stageNames.join(', ')}, each once`,
    );
  return {
    name,
    module,
    stages,
    readsDiff: partFlag(part, 'readsDiff'),
    timeoutSeconds: partSeconds(part),
  };
}

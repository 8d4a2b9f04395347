import { messageOf } from '../../../core/base/errors.ts';
import { parseList, toFields } from '../../../core/base/parse-fields.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { StageCheck } from '../../../core/contract/stage-check.ts';
import { parseFindings } from '../../../core/kernel/answer.ts';
import type { ManifestStageCheck } from '../manifest-stage-check.ts';
import { pluginFault } from '../process/plugin-fault.ts';
import type { PartGround } from './part-ground.ts';

const maxAnswerBytes = 4 * 1024 * 1024;
const maxFindings = 1000;

/** A check of the gate stages that a plugin brings: its answer in its form, under its own name. */
export function outsideStageCheck(
  { name, module, stages, readsDiff, timeoutSeconds }: ManifestStageCheck,
  { plugin, process, options, handed }: PartGround,
): StageCheck {
  const ms = timeoutSeconds * 1000;
  return {
    name,
    plugin,
    stages,
    readsDiff,
    async judge(input, signal) {
      const { secrets, files, masked } = await handed();
      const args = [input, { options, secrets, files }];
      const bounds = { idleMs: ms, withinMs: ms, maxBytes: maxAnswerBytes };
      const call = { module, call: 'judge', args, secrets: masked, ...bounds };
      const answer = await process.ask(call, signal);
      try {
        return toFindings(name, answer);
      } catch (fault) {
        throw pluginFault(plugin, 'garbage', messageOf(fault));
      }
    },
  };
}

/** Throws on what is no list of findings, and on findings in the name of another. */
function toFindings(name: string, answer: unknown): readonly Finding[] {
  const named = parseList(answer, (item) => ({ rule: name, ...toFields(item, 'a finding') }), maxFindings);
  const foreign = named.find(({ rule }) => rule !== name);
  if (foreign !== undefined)
    throw new TypeError(`expected findings of \`${name}\`, got one in the name of another`);
  return parseFindings(named);
}

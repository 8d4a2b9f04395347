/* The risk of a spec that a command builds: low by default, high proposed for security code, and never below policy. */
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import type { RiskPolicy } from '../../engine/draft/seal-request.ts';
import { riskLevels } from '../../spec/profile.ts';
import type { CommandContext } from './command.ts';

/** Who answers. */
interface RiskQuestion {
  readonly command: 'seal' | 'queue add' | 'spec new';
  /** Asks a person; absent where none can be asked. */
  readonly ask?: (question: string) => Promise<string>;
  /** `always`: a person is asked for every risk. `never`: the proposal holds where no person can be asked. */
  readonly asks: 'always' | 'security-code' | 'never';
}

/** `--risk`; else the least that the policy commit allows, and for security code what a person says. USAGE. */
export async function chooseRisk(
  { options, print }: Pick<CommandContext, 'options' | 'print'>,
  { leastRisk, securityPath }: RiskPolicy,
  { command, ask, asks }: RiskQuestion,
): Promise<{ readonly risk: RiskLevel; readonly why: string }> {
  const given = riskLevels.find((level) => level === options.value('risk'));
  const levels: readonly RiskLevel[] = riskLevels.slice(riskLevels.indexOf(leastRisk));
  if (given !== undefined) {
    if (!levels.includes(given))
      throw new WritError('USAGE', {
        message: `\`--risk ${given}\` is too low: \`[seal] least_risk\` at the policy commit is \`${leastRisk}\``,
        detail: { command, option: '--risk', expected: leastRisk, found: given },
      });
    return { risk: given, why: `As the person who called \`writ ${command}\` stated it.` };
  }
  const isSecurity = securityPath !== undefined;
  const why = isSecurity
    ? `Proposed for security code: ${printable(securityPath).slice(0, 500)}.`
    : 'The least risk that the repository allows; no path is security code.';
  const proposed = isSecurity ? 'high' : leastRisk;
  if (asks !== 'always' && proposed === leastRisk) return { risk: proposed, why };
  const shown = isSecurity
    ? `\`${printable(securityPath)}\` is security code, and the proposed risk is \`high\` (two approvals, analyses, log proof)`
    : `which risk: ${levels.join(', ')}?`;
  if (ask === undefined && asks !== 'never')
    throw new WritError('USAGE', {
      message: shown,
      detail: { command, expected: ['--risk'], path: securityPath ?? null },
      hints: [`choose the risk: \`writ ${command} --risk high\`, or \`--risk ${leastRisk}\``],
    });
  if (ask === undefined) {
    if (isSecurity) print.note(`risk: high, because ${printable(securityPath)} is security code`);
    return { risk: proposed, why };
  }
  const typed = (
    await ask(
      isSecurity
        ? `${shown}; Enter accepts, or type ${levels.join(', ')}`
        : `${shown} (Enter means ${proposed})`,
    )
  ).toLowerCase();
  const chosen = typed === '' ? proposed : levels.find((level) => level === typed);
  if (chosen === undefined)
    throw new WritError('USAGE', {
      message: `expected ${levels.join(', ')}, found \`${printable(typed)}\``,
    });
  if (!isSecurity) return { risk: chosen, why: 'As a person chose it.' };
  print.note(`risk: ${chosen}`);
  return { risk: chosen, why: `Chosen for security code: ${printable(securityPath).slice(0, 500)}.` };
}

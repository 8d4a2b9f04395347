import { type RuntimeTool, runtimeTools } from './runtime-tools.ts';
import type { Version } from './runtime-version.ts';

const runtimeOperators = ['>=', '>', '=', '^', '~'] as const;
type RuntimeOperator = (typeof runtimeOperators)[number];

/** One demand of `constraints.platform.languageRuntime`: `node>=22`. */
export interface RuntimeDemand {
  readonly name: string;
  readonly tool: RuntimeTool;
  readonly operator: RuntimeOperator;
  /** One to three numbers, as many as were written. */
  readonly version: Version['numbers'];
  /** As written, without blanks. */
  readonly text: string;
}

/** What is wrong with the text, in words. */
export interface RuntimeFault {
  readonly message: string;
}

const demand = /^([a-z][a-z0-9+-]{0,31})(>=|>|=|\^|~)v?(\d{1,6}(?:\.\d{1,6}){0,2})$/;

/**
 * Reads `node>=22, python>=3.11`: demands joined by commas or blanks, blanks around an operator allowed, names in any
 * case. Blank text demands nothing. An unknown tool, or text that is no demand, is a fault.
 */
export function readLanguageRuntime(text: string): readonly RuntimeDemand[] | RuntimeFault {
  const words = text
    .replaceAll(/[ \t]*(>=|>|=|\^|~)[ \t]*/g, '$1')
    .split(/[, \t]/)
    .filter((word) => word !== '');
  const demands: RuntimeDemand[] = [];
  for (const word of words) {
    const [, name = '', operator = '', version = ''] = demand.exec(word.toLowerCase()) ?? [];
    if (name === '') {
      return {
        message: `expected a tool, one of ${runtimeOperators.join(' ')}, and a version, such as \`node>=22\`, found \`${shown(word)}\``,
      };
    }
    const tool = runtimeTools.get(name);
    if (!tool) {
      return {
        message: `expected one of the tools ${[...runtimeTools.keys()].map((known) => `\`${known}\``).join(', ')}, found \`${name}\``,
      };
    }
    demands.push({
      name,
      tool,
      operator: operator as RuntimeOperator,
      version: version.split('.').map(Number),
      text: `${name}${operator}${version}`,
    });
  }
  return demands;
}

function shown(word: string): string {
  return word.replaceAll(/\p{C}/gu, '\uFFFD').slice(0, 80);
}

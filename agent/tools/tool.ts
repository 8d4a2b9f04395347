/* How a tool is declared to a model, and how the arguments of a call are validated. */
import type { ToolDeclaration } from '../../core/interfaces/model.ts';
import type { CodeAction, Hands, TaskOrder, WebUse, WorkCitation } from '../../core/interfaces/worker.ts';

/** One argument of a tool. */
export interface ToolArgument {
  readonly type: 'string' | 'integer' | 'boolean' | 'strings';
  readonly says: string;
  readonly optional?: true;
}

/** Arguments that were checked against their declaration. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What a call came to, for the model. */
export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
  /** A choice that the model calls a key technical decision. */
  readonly cites?: WorkCitation;
  /** Ends the attempt: the change is complete, or the model gives the reason why not. */
  readonly ends?: { readonly complete: boolean; readonly summary: string };
}

/** What a model is told of a tool. */
export interface ToolForm {
  readonly name: string;
  readonly says: string;
  readonly takes: Readonly<Record<string, ToolArgument>>;
}

/** A tool for a model, built on the workspace tools of the engine. */
export interface CoderTool extends ToolForm {
  /** Offered only if the spec allows this web action, or access to the history of the repository. */
  readonly wants?: WebUse['kind'] | 'history';
  /** Offered only if this code query is allowed and can be answered. */
  readonly wantsCode?: CodeAction;
  use(
    given: ToolArguments,
    hands: Hands,
    more: Pick<TaskOrder, 'web' | 'citations' | 'person'>,
  ): Promise<ToolOutcome>;
}

/** The declaration for a model. */
export function declarationOf({ name, says, takes }: ToolForm): ToolDeclaration {
  const entries = Object.entries(takes);
  return {
    name,
    description: says,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        entries.map(([argument, { type, says: description }]) => [
          argument,
          type === 'strings'
            ? { type: 'array', items: { type: 'string' }, description }
            : { type, description },
        ]),
      ),
      required: entries.flatMap(([argument, { optional }]) => (optional ? [] : [argument])),
      additionalProperties: false,
    },
  };
}

/**
 * Parses and validates the arguments of a call. Returns the fault as text for the model if they do not fit the tool.
 */
export function readArguments(
  { takes }: Pick<ToolForm, 'takes'>,
  text: string,
): { readonly given: ToolArguments } | { readonly wrong: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { wrong: 'the arguments are not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { wrong: 'the arguments are not an object' };
  const given = new Map(Object.entries(value));
  for (const name of given.keys())
    if (!Object.hasOwn(takes, name)) return { wrong: `there is no argument \`${name.slice(0, 64)}\`` };
  for (const [name, { type, optional }] of Object.entries(takes)) {
    const one: unknown = given.get(name);
    // Many models write what they leave out as `null`.
    if (one === undefined || one === null) {
      if (!optional) return { wrong: `the argument \`${name}\` is missing` };
      given.delete(name);
      continue;
    }
    if (!fits(type, one)) {
      const wanted = type === 'strings' ? 'array of strings' : type;
      return { wrong: `the argument \`${name}\` has to be of type ${wanted}` };
    }
  }
  return { given: Object.fromEntries(given) as ToolArguments };
}

function fits(type: ToolArgument['type'], value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'strings') return Array.isArray(value) && value.every((one) => typeof one === 'string');
  return typeof value === type;
}

import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';

interface Token {
  readonly value: string;
}

/** GitHub's own reading of workflows, actions and expressions. It imports JSON as only bundlers do, so it is bundled. */
export interface ActionsLibrary {
  /** Faults of a workflow or of `action.yml` by GitHub's schema, with the place of each. */
  faults(name: string, content: string): Promise<readonly string[]>;
  /** The value of an expression. Throws for names that the contexts do not have at the first level. */
  evaluate(expression: string, contexts: Readonly<Record<string, unknown>>): unknown;
}

const source = `
export { parseWorkflow, convertWorkflowTemplate, NoOperationTraceWriter } from '@actions/workflow-parser';
export { parseAction } from '@actions/workflow-parser/actions/action-parser';
export { Lexer, Parser, Evaluator, data } from '@actions/expressions';
`;

export async function loadActionsLibrary(): Promise<ActionsLibrary> {
  const stdin = { contents: source, resolveDir: import.meta.dirname };
  const { outputFiles } = await build({ stdin, bundle: true, platform: 'node', format: 'cjs', write: false });
  // The library has no types that hold without its own imports.
  const module = { exports: {} as ReturnType<JSON['parse']> };
  const names = ['module', 'require'];
  compileFunction(outputFiles[0]?.text ?? '', names)(module, createRequire(import.meta.url));
  const library = module.exports;
  const { data } = library;
  const toData = (value: unknown): unknown => {
    if (typeof value === 'string') return new data.StringData(value);
    if (typeof value === 'boolean') return new data.BooleanData(value);
    if (typeof value === 'number') return new data.NumberData(value);
    if (value === null || value === undefined) return new data.Null();
    const pairs = Object.entries(value).map(([key, inner]) => ({ key, value: toData(inner) }));
    return new data.Dictionary(...pairs);
  };
  return {
    async faults(name, content) {
      const file = { name, content };
      const trace = new library.NoOperationTraceWriter();
      if (name.endsWith('action.yml'))
        return library
          .parseAction(file, trace)
          .context.errors.getErrors()
          .map(({ message }: Error) => message);
      const { context, value } = library.parseWorkflow(file, trace);
      const { errors = [] } = await library.convertWorkflowTemplate(context, value);
      return errors.map(({ Message }: { readonly Message: string }) => Message);
    },
    evaluate(expression, contexts) {
      const always = { name: 'always', minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(true) };
      const { tokens } = new library.Lexer(expression).lex() as { readonly tokens: readonly Token[] };
      const tree = new library.Parser(tokens, Object.keys(contexts), [always]).parse();
      const evaluator = new library.Evaluator(tree, toData(contexts), new Map([['always', always]]));
      const found = evaluator.evaluate();
      return found.primitive ? (found.value ?? '') : found.coerceString();
    },
  };
}

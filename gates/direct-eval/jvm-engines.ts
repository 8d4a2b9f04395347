/**
 * How a type of the Java platform runs a text. `from`: a package that the file has to name, where other types have the
 * same name. `expression`: of an expression language, the argument that holds one; one that is written down is part of
 * the program.
 */
export type JvmEngine = readonly [methods: RegExp, from?: RegExp | undefined, expression?: number];

const evaluator: JvmEngine = [/^(?:cook|createFastEvaluator)$/, /^org\.codehaus/];
const engines: Readonly<Record<string, readonly JvmEngine[]>> = {
  ScriptEngine: [[/^(?:eval|compile)$/]],
  NashornScriptEngine: [[/^(?:eval|compile)$/]],
  Compilable: [[/^compile$/]],
  Invocable: [[/^eval$/]],
  GroovyShell: [[/^(?:evaluate|parse|run)$/]],
  GroovyScriptEngine: [[/^(?:run|createScript)$/]],
  GroovyClassLoader: [[/^parseClass$/]],
  JShell: [[/^eval$/]],
  MVEL: [[/^(?:eval|executeExpression|compileExpression)\w*$/]],
  Eval: [[/^(?:me|x|xy|xyz)$/]],
  Interpreter: [[/^eval$/, /^bsh/]],
  Context: [
    [/^eval$/, /^org\.graalvm\.polyglot/],
    [/^(?:evaluate|compile)(?:String|Reader)$/, /^org\.mozilla\.javascript/],
  ],
  SpelExpressionParser: [[/^parse(?:Expression|Raw)$/, undefined, 0]],
  ExpressionParser: [[/^parse(?:Expression|Raw)$/, /^org\.springframework\.expression/, 0]],
  Ognl: [[/^(?:getValue|setValue|parseExpression|compileExpression)$/, undefined, 0]],
  JexlEngine: [[/^create(?:Expression|Script)$/, undefined, 0]],
  ELProcessor: [[/^(?:eval|getValue|setValue)$/, undefined, 0]],
  ExpressionFactory: [[/^create(?:Value|Method)Expression$/, /^(?:javax|jakarta)\.el/, 1]],
  ExpressionEvaluator: [evaluator],
  ScriptEvaluator: [evaluator],
  ClassBodyEvaluator: [evaluator],
  SimpleCompiler: [evaluator],
  PythonInterpreter: [[/^(?:exec|eval|compile)$/, /^org\.python/]],
  ScriptingContainer: [[/^(?:runScriptlet|parse)$/, /^org\.jruby/]],
  JavaCompiler: [[/^(?:getTask|run)$/, /^javax\.tools/]],
};
const makers =
  /^(?:create|builder|newBuilder|build|enter|newInstance|option|options|allowAllAccess|allowIO)$/;
const made: Readonly<Record<string, string>> = {
  getRuntime: 'Runtime',
  getSystemJavaCompiler: 'JavaCompiler',
  getEngineByName: 'ScriptEngine',
  getEngineByExtension: 'ScriptEngine',
  getEngineByMimeType: 'ScriptEngine',
  getScriptEngine: 'ScriptEngine',
};

const anyMethod = new RegExp(
  Object.values(engines)
    .flatMap((list) => list.map(([methods]) => methods.source))
    .join('|'),
);

/** Whether some type runs texts by a method of that name; most calls are none of these. */
export function isEngineMethod(name: string): boolean {
  return name === 'exec' || anyMethod.test(name);
}

/** Whether a type runs texts, or makes one that does. */
export function isEngineType(type: string): boolean {
  return Object.hasOwn(engines, type) || type === 'JexlBuilder' || type === 'Runtime';
}

/** The type that a call returns, by its method and the type of its receiver; that may be the same type. */
export function madeBy(type: string | undefined, method: string): string | undefined {
  if (Object.hasOwn(made, method)) return made[method];
  if (type === 'JexlBuilder') return method === 'create' ? 'JexlEngine' : type;
  return type !== undefined && isEngineType(type) && makers.test(method) ? type : undefined;
}

/** How a method of a type runs a text; `isNamed` tells whether the file names a package. */
export function engineOf(
  type: string | undefined,
  method: string,
  isNamed: (space: RegExp) => boolean,
): JvmEngine | undefined {
  if (type === undefined || !Object.hasOwn(engines, type)) return undefined;
  return engines[type]?.find(([methods, from]) => methods.test(method) && (!from || isNamed(from)));
}

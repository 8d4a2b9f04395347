/** What runs a text on the Java platform. */
export interface JvmEngine {
  readonly methods: RegExp;
  /** Packages of which one must be named in the file, where other types are called the same. */
  readonly from?: readonly string[];
  /**
   * An expression language: an expression that is written down is part of the program. The number of the argument that
   * holds it.
   */
  readonly expression?: number;
}

const spring = ['org.springframework.expression'];
const janino: JvmEngine = { methods: /^(?:cook|createFastEvaluator)$/, from: ['org.codehaus'] };

const engines: Readonly<Record<string, readonly JvmEngine[]>> = {
  ScriptEngine: [{ methods: /^(?:eval|compile)$/ }],
  NashornScriptEngine: [{ methods: /^(?:eval|compile)$/ }],
  Compilable: [{ methods: /^compile$/ }],
  Invocable: [{ methods: /^eval$/ }],
  GroovyShell: [{ methods: /^(?:evaluate|parse|run)$/ }],
  GroovyScriptEngine: [{ methods: /^(?:run|createScript)$/ }],
  GroovyClassLoader: [{ methods: /^parseClass$/ }],
  JShell: [{ methods: /^eval$/ }],
  MVEL: [{ methods: /^(?:eval|executeExpression|compileExpression)\w*$/ }],
  Eval: [{ methods: /^(?:me|x|xy|xyz)$/ }],
  Interpreter: [{ methods: /^eval$/, from: ['bsh'] }],
  Context: [
    { methods: /^eval$/, from: ['org.graalvm.polyglot'] },
    { methods: /^(?:evaluate|compile)(?:String|Reader)$/, from: ['org.mozilla.javascript'] },
  ],
  SpelExpressionParser: [{ methods: /^parse(?:Expression|Raw)$/, expression: 0 }],
  ExpressionParser: [{ methods: /^parse(?:Expression|Raw)$/, from: spring, expression: 0 }],
  Ognl: [{ methods: /^(?:getValue|setValue|parseExpression|compileExpression)$/, expression: 0 }],
  JexlEngine: [{ methods: /^create(?:Expression|Script)$/, expression: 0 }],
  ELProcessor: [{ methods: /^(?:eval|getValue|setValue)$/, expression: 0 }],
  ExpressionFactory: [
    {
      methods: /^create(?:Value|Method)Expression$/,
      from: ['javax.el', 'jakarta.el'],
      expression: 1,
    },
  ],
  ExpressionEvaluator: [janino],
  ScriptEvaluator: [janino],
  ClassBodyEvaluator: [janino],
  SimpleCompiler: [janino],
  PythonInterpreter: [{ methods: /^(?:exec|eval|compile)$/, from: ['org.python'] }],
  ScriptingContainer: [{ methods: /^(?:runScriptlet|parse)$/, from: ['org.jruby'] }],
  JavaCompiler: [{ methods: /^(?:getTask|run)$/, from: ['javax.tools'] }],
};

const anyMethod = new RegExp(
  Object.values(engines)
    .flatMap((list) => list.map(({ methods }) => methods.source))
    .join('|'),
);
const makers =
  /^(?:create|builder|newBuilder|build|enter|newInstance|option|options|allowAllAccess|allowIO)$/;
const engineGetters = /^(?:getEngineBy(?:Name|Extension|MimeType)|getScriptEngine)$/;

/** Whether some type runs texts by a method of that name; most calls are none of these. */
export function isEngineMethod(name: string): boolean {
  return name === 'exec' || anyMethod.test(name);
}

/** Whether a type runs texts, or makes one that does. */
export function isEngineType(type: string): boolean {
  return Object.hasOwn(engines, type) || type === 'JexlBuilder' || type === 'Runtime';
}

/** The type that a call answers, by its method and the type of what it is asked of; that may be the type itself. */
export function madeBy(type: string | undefined, method: string): string | undefined {
  if (method === 'getRuntime') return 'Runtime';
  if (method === 'getSystemJavaCompiler') return 'JavaCompiler';
  if (engineGetters.test(method)) return 'ScriptEngine';
  if (type === undefined || !isEngineType(type)) return undefined;
  if (type === 'JexlBuilder') return method === 'create' ? 'JexlEngine' : type;
  return makers.test(method) ? type : undefined;
}

/** How a method of a type runs a text; `names` tells whether a package is named in the file. */
export function engineOf(
  type: string | undefined,
  method: string,
  names: (space: string) => boolean,
): JvmEngine | undefined {
  if (type === undefined || !Object.hasOwn(engines, type)) return undefined;
  return engines[type]?.find((one) => one.methods.test(method) && (one.from?.some(names) ?? true));
}

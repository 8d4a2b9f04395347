import type { Hit } from './hit.ts';
import { shellFlagHits } from './shell-flag.ts';
import type { TokenView } from './token-view.ts';

const why = { code: 'evaluates a string as code', shell: 'hands a command line to the system' };

/** Direct execution in Java, Kotlin, Groovy and Scala. */
export function jvmHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...shellFlagHits(view)];
  const hasEngine = view.tokens.some((token) => token.kind === 'word' && /^ScriptEngine/.test(token.text));
  for (let index = 0; index < view.tokens.length; index += 1) {
    const { kind, text, start } = view.at(index);
    if (kind !== 'word') continue;
    const isCall = view.isPunct(index + 1, '(');
    const isMember = view.isPunct(index - 1, '.', '?.', '::');
    if (text === 'exec' && isCall && isMember) {
      const owner = view.isPunct(index - 2, ')') ? view.text(index - 4) : view.text(index - 2);
      if (owner === 'getRuntime' || /^(?:runtime|rt)$/i.test(owner))
        hits.push({ start, call: 'Runtime.exec', why: why.shell });
    } else if (text === 'eval' && isCall && isMember && (hasEngine || /engine/i.test(view.text(index - 2))))
      hits.push({ start, call: 'ScriptEngine.eval', why: why.code });
    else if (text === 'GroovyShell' && isCall) hits.push({ start, call: text, why: why.code });
  }
  return hits;
}

/** Direct execution in Go: only a shell reads a command line there; `exec.Command(name, args…)` does not. */
export function goHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...shellFlagHits(view)];
  const interprets = view.tokens.some(
    (token) => token.kind === 'string' && /(?:^|\/)(?:yaegi\/interp|goja|otto|gopher-lua)$/.test(token.text),
  );
  for (let index = 0; interprets && index < view.tokens.length; index += 1) {
    if (
      !view.isWord(index, 'Eval', 'RunString', 'RunScript', 'DoString') ||
      !view.isPunct(index - 1, '.') ||
      !view.isPunct(index + 1, '(')
    )
      continue;
    hits.push({ start: view.at(index).start, call: view.text(index), why: why.code });
  }
  return hits;
}

/** Direct execution in C#. */
export function csharpHits(view: TokenView): readonly Hit[] {
  const hits: Hit[] = [...shellFlagHits(view)];
  for (let index = 0; index < view.tokens.length; index += 1) {
    const { kind, text, start } = view.at(index);
    if (kind !== 'word') continue;
    const isMember = view.isPunct(index - 1, '.');
    const isCall = view.isPunct(index + 1, '(', '<');
    if (text === 'UseShellExecute' && view.isPunct(index + 1, '=') && view.isWord(index + 2, 'true'))
      hits.push({ start, call: text, why: 'starts through the system shell' });
    else if (isMember && view.isWord(index - 2, 'CSharpScript') && isCall)
      hits.push({ start, call: `CSharpScript.${text}`, why: why.code });
    else if (isMember && /^(?:CompileAssemblyFromSource|AddScript|InvokeScript)$/.test(text) && isCall)
      hits.push({ start, call: text, why: why.code });
  }
  return hits;
}

/** The policy engine `rego`: a policy that `opa build -t wasm` compiled, with its data. */
import type { LoadedPolicy } from '@open-policy-agent/opa-wasm';
import type { PolicyText } from '../../plugin.ts';
import {
  answerAll,
  invalidPolicy,
  type PolicyFault,
  policyFinding,
  policyRule,
  policyText,
  toFlatFacts,
} from './questions.ts';

const engine = 'rego';
/** In pages of 64 KiB. */
const memory = { initial: 5, maximum: 2048 };
/** Exports of a compiled policy that its ABI 1.x defines (Open Policy Agent documentation, "Wasm"). */
const abi = ['opa_wasm_abi_version', 'opa_wasm_abi_minor_version', 'builtins', 'entrypoints', 'opa_malloc'];

/**
 * Evaluates each entry point for each question. One named `deny` or `violation` denies with each of its messages; any
 * other permits by the boolean `true`. An undefined result, another value or a fault is a finding.
 */
export const judge = policyRule(engine, async (policy, input) => {
  const { name } = policy;
  const { loaded, fault } = await load(policy);
  if (!loaded) return invalidPolicy(engine, name, [fault]);
  const entryPoints = Object.keys(loaded.entrypoints).sort();
  return answerAll(engine, name, input, (question) => {
    const { action, file } = question;
    const place = file ? { path: file.path } : {};
    return entryPoints.flatMap((entryPoint) => {
      const detail = { policy: name, action, policies: [entryPoint], ...place };
      const { denials, fault } = readResults(entryPoint, evaluate(loaded, toFlatFacts(question), entryPoint));
      if (fault !== undefined) {
        const message = `policy \`${name}\` failed to evaluate \`${entryPoint}\` for \`${action}\`: ${fault}`;
        return [policyFinding(engine, 'POLICY_FAULT', message, detail)];
      }
      return denials.map((why) => {
        const message = `policy \`${name}\` denies \`${action}\`: \`${entryPoint}\` ${why}`;
        return policyFinding(engine, 'POLICY_DENIED', message, detail);
      });
    });
  });
});

type Loaded =
  | { readonly loaded: LoadedPolicy; readonly fault?: never }
  | { readonly loaded?: never; readonly fault: PolicyFault };

/** The policy, ready to evaluate, or the first fault of its files: one `.wasm` file and at most one `.json` file. */
async function load({ files }: PolicyText): Promise<Loaded> {
  const [program, ...otherPrograms] = files.filter(({ path }) => path.endsWith('.wasm'));
  const [data, ...others] = files.filter(({ path }) => !path.endsWith('.wasm'));
  const surplus = otherPrograms[0] ?? others[0] ?? (data && !data.path.endsWith('.json') ? data : undefined);
  if (!program || surplus)
    return {
      fault: {
        path: surplus?.path ?? files[0]?.path ?? '',
        message: 'expected one compiled policy (`.wasm`) and at most one data file (`.json`)',
      },
    };
  try {
    const module = new WebAssembly.Module(Buffer.from(program.bytes));
    const names = WebAssembly.Module.exports(module).map((one) => one.name);
    const missing = abi.find((one) => !names.includes(one));
    if (missing !== undefined)
      return {
        fault: {
          path: program.path,
          message: `expected a policy of \`opa build -t wasm\`: it exports no \`${missing}\``,
        },
      };
    const { loadPolicy } = await import('@open-policy-agent/opa-wasm');
    const loaded = await loadPolicy(Buffer.from(program.bytes), memory);
    if (Object.keys(loaded.entrypoints).length === 0)
      return { fault: { path: program.path, message: 'expected an entry point, found none' } };
    if (data) {
      const value = readData(data.bytes);
      if (value === undefined) return { fault: { path: data.path, message: 'expected a JSON object' } };
      loaded.setData(value);
    }
    return { loaded };
  } catch (error) {
    return { fault: { path: program.path, message: toMessage(error) } };
  }
}

function readData(bytes: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(policyText(bytes) ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The result set of one evaluation, or a fault as text. */
function evaluate(loaded: LoadedPolicy, facts: object, entryPoint: string): unknown {
  try {
    return loaded.evaluate(facts, entryPoint);
  } catch (error) {
    return toMessage(error);
  }
}

/** The library throws errors, texts and plain objects with a message. */
function toMessage(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  return typeof message === 'string' ? message : String(error);
}

/**
 * Reads a result set, `[{ result }]`: what it denies, each as the end of a sentence about the entry point. An empty set
 * is an undefined result.
 */
export function readResults(
  entryPoint: string,
  results: unknown,
): { readonly denials: readonly string[]; readonly fault?: string } {
  if (typeof results === 'string') return { denials: [], fault: results };
  const [first] = Array.isArray(results) ? (results as readonly unknown[]) : [];
  if (typeof first !== 'object' || first === null || !('result' in first))
    return { denials: [], fault: 'its result is undefined' };
  const { result } = first;
  if (!/(?:^|\/)(?:deny|violation)$/.test(entryPoint)) {
    if (typeof result !== 'boolean') return { denials: [], fault: 'expected a boolean, found another value' };
    return { denials: result ? [] : ['is false'] };
  }
  if (!Array.isArray(result))
    return { denials: [], fault: 'expected a set of messages, found another value' };
  const messages = (result as readonly unknown[]).map((one) =>
    typeof one === 'object' && one !== null && 'msg' in one ? one.msg : one,
  );
  if (!messages.every((one) => typeof one === 'string'))
    return { denials: [], fault: 'expected each message to be a text or an object with `msg`' };
  return { denials: messages.map((one) => `says: ${one}`) };
}

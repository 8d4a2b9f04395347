/* How `[signer]` and `[log]` of the configuration are written. */
import { serviceUrlFault } from '../../core/base/http-question.ts';
import type { LogForm, SignerForm } from '../../core/interfaces/sealing.ts';
import { ledgerForm, ledgerMode, publicLogMode, readPublicLogSection } from '../log/log-sections.ts';

/** A key file of the user's own: absolute, or below the home directory when it begins with `~/`. */
export interface PathKey<Form extends string> {
  readonly form: Form;
  readonly path: string;
}

/** PEM in an environment variable, by its name. */
export interface EnvironmentKey {
  readonly form: 'env';
  readonly name: string;
}

/** SSH agent: a key by fingerprint (`SHA256:…`) or comment; without either, its only suitable key. */
export interface AgentKey {
  readonly form: 'agent';
  readonly wanted: string | undefined;
}

export interface KeylessKey {
  readonly form: 'keyless';
}

function pathForm<Form extends string>(form: Form): SignerForm<PathKey<Form>> {
  return {
    usage: `${form}:PATH`,
    parse: (rest = '') =>
      /^(?:~\/|\/)/.test(rest) && !rest.split('/').includes('..')
        ? { form, path: rest }
        : { expected: `expected \`${form}:\` and an absolute path or one that begins with \`~/\`` },
  };
}

const environmentForm: SignerForm<EnvironmentKey> = {
  usage: 'env:NAME',
  parse: (rest = '') =>
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(rest)
      ? { form: 'env', name: rest }
      : { expected: 'expected `env:` and the name of an environment variable' },
};

const agentForm: SignerForm<AgentKey> = {
  usage: 'agent[:FINGERPRINT or COMMENT]',
  parse(rest) {
    if (rest === undefined) return { form: 'agent', wanted: undefined };
    const isMeant = rest.startsWith('SHA256:') ? /^SHA256:[A-Za-z0-9+/]{43}$/.test(rest) : rest.trim() !== '';
    return isMeant && rest.length <= 256
      ? { form: 'agent', wanted: rest }
      : { expected: 'expected `agent`, or `agent:` and a fingerprint `SHA256:…` or the comment of a key' };
  },
};

const keylessForm: SignerForm<KeylessKey> = {
  usage: 'keyless',
  settings: [
    {
      key: 'fulcio_url',
      name: 'fulcioUrl',
      parse(text) {
        const fault = serviceUrlFault(text);
        return fault === undefined ? { value: text.replace(/\/+$/, '') } : { expected: fault };
      },
      misplaced: 'only `key = "keyless"` asks for certificates',
    },
  ],
  parse: (rest) => (rest === undefined ? { form: 'keyless' } : undefined),
};

/** The form for a run without a configured key; users cannot write it. */
const defaultForm: SignerForm = { parse: () => undefined };

/** How `[signer] key` is written for every built-in source, in the order in which messages name them. */
export const signerForms = {
  file: pathForm('file'),
  ssh: pathForm('ssh'),
  env: environmentForm,
  agent: agentForm,
  keyless: keylessForm,
  default: defaultForm,
} as const;

/** How `[signer]` and `[log]` are read where no engine is open. */
export const sealingForms: {
  readonly signers: ReadonlyMap<string, SignerForm>;
  readonly logs: ReadonlyMap<string, LogForm>;
} = {
  signers: new Map(Object.entries<SignerForm>(signerForms)),
  logs: new Map([
    [ledgerMode, ledgerForm],
    [publicLogMode, { readSection: readPublicLogSection }],
  ]),
};

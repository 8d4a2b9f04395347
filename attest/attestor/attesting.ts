/* The attestor of the engine: signs the statements of a run and verifies them before they are stored. */

import { serviceUrlFault } from '../../core/base/service-url.ts';
import type {
  Attesting,
  Attestor,
  AttestRequest,
  LogForm,
  SealedFile,
  SealingParties,
  SignerForm,
} from '../../core/interfaces/sealing.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { logEnvelope, signStatement, toUnloggedBundle } from '../bundle/seal-statement.ts';
import { ledgerForm, ledgerMode, publicLogMode, readPublicLogSection } from '../log/log-sections.ts';
import { buildProvenance, type ProvenanceStatement } from '../statement/build-provenance.ts';
import {
  buildDecision,
  buildEquivalence,
  buildManifest,
  buildRevocation,
  buildSummary,
  buildTestResults,
  buildWaitingRun,
} from '../statement/run-statements.ts';
import type { Statement } from '../statement/statement.ts';
import { runFiles, testResultPath } from '../verify/evidence-source.ts';
import { rehearse, verifyDecided, verifyOwnSeal, verifyWaitingRun } from '../verify/own-seal.ts';

/** SLSA provenance, and approvals by SSH key: what reads these is loaded when there is something to read. */
export const attesting: Attesting = {
  attestor: createSlsaAttestor(),
  approvals: {
    read: async (...asked) => (await import('../approval/read-approvals.ts')).sshsigApprovals.read(...asked),
  },
};

/**
 * The statements of `docs/decisions/0006-evidence-set.md` in DSSE envelopes, as sigstore bundles v0.3. A signature
 * differs each time.
 */
export function createSlsaAttestor(): Attestor {
  return {
    async signFindings(request, parties) {
      const results = [...buildTestResults(request)].map(
        ([check, statement]) => [testResultPath(encodeId(check)), statement] as const,
      );
      const equivalence = buildEquivalence(request);
      const statements: readonly (readonly [string, Statement])[] = [
        ...results,
        [runFiles.decision, buildDecision(request)],
        ...(equivalence ? [[runFiles.equivalence, equivalence] as const] : []),
      ];
      return Promise.all(statements.map(([path, statement]) => signFile(path, statement, parties)));
    },
    sign: async (request, parties) => signStatement(await toProvenance(request, parties.log), parties),
    async signRevocation(request, parties) {
      const { subject } = await toProvenance(request, parties.log);
      return signStatement(buildRevocation(subject, request.runId), parties);
    },
    log: (envelope, parties, behind) => logEnvelope(envelope, parties, behind),
    async signSummary(request, recorded, parties) {
      const summary = await signFile(runFiles.summary, buildSummary(request, recorded), parties);
      const manifest = buildManifest(request, new Map([...recorded, summary]));
      return [summary, await signFile(runFiles.manifest, manifest, parties)];
    },
    verifyDecided: async (request, evidence) =>
      verifyDecided(request, await toProvenance(request, undefined), evidence),
    verify: verifyOwnSeal,
    signWaiting: async (runId, files, parties) =>
      toUnloggedBundle(await signStatement(buildWaitingRun(runId, files), parties), parties),
    isWaitingSignedBy: verifyWaitingRun,
    rehearse: async (request, parties) => rehearse(await toProvenance(request, parties.log), parties),
  };
}

async function signFile(path: string, statement: Statement, parties: SealingParties): Promise<SealedFile> {
  return [path, toUnloggedBundle(await signStatement(statement, parties), parties)];
}

async function toProvenance(
  request: AttestRequest,
  log: SealingParties['log'],
): Promise<ProvenanceStatement> {
  const { spec, stages: _stages, approvals: _approvals, ...rest } = request;
  return buildProvenance({
    ...rest,
    specId: spec.metadata.id,
    ...spec.provenance.bindings,
    ledger: await log?.vkey(),
  });
}

/* How `[signer]` and `[log]` of the configuration are written. */

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

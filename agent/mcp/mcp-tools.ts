/* Offers the tools of MCP servers to a model: which are allowed, how they are declared, and what a call came to. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import { isWritError, messageOf, type WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { printable } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec, EffectiveToolAcl } from '../../core/interfaces/intentspec.gen.ts';
import type { ToolDeclaration } from '../../core/interfaces/model.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { HandAnswer, McpDoor } from '../../core/interfaces/worker.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import { readNetworkHost } from '../../spec/checks-of.ts';
import { guardTool, shownPaths } from '../../workspace/command-acl/acl.ts';
import { allowRules } from '../../workspace/command-acl/constraints.ts';
import { openPublicClient, type PublicClient } from '../../workspace/egress/ask-public.ts';
import { joinNetworks } from '../../workspace/egress/command-network.ts';
import { untrustedText } from '../model-loop/model-turns.ts';
import { type AuthorizedTool, openToolEntry, type ToolSetting } from '../tool-calls/tool-entry.ts';
import {
  connectServer,
  type DeclaredTool,
  type McpConnection,
  type McpWay,
  readGiven,
  shownArguments,
  textsIn,
} from './connect-server.ts';
import {
  endpointOf,
  hostsOf,
  type McpPlace,
  type McpServer,
  mcpFault,
  policyOf,
  reachOf,
  type StartedProgram,
  startProgram,
} from './start-server.ts';

/** Begins the name of every such tool in tool rules. */
const prefix = 'mcp.';
const callAction = 'call';

/** The name of a tool, or without one of its server, in tool rules, records and questions. */
export function mcpTool(server: string, tool?: string): string {
  return `${prefix}${server}${tool === undefined ? '' : `.${tool}`}`;
}

/** What became of a server, for `/status` and records. */
export interface McpState {
  readonly server: string;
  readonly from: McpServer['from'];
  readonly state: 'not_started' | 'started' | 'failed' | 'refused';
  /** Host, or digest of the command. */
  readonly endpoint: string;
  readonly reach: string;
  /** Why it failed or was refused. */
  readonly why?: string;
  readonly tools: readonly McpToolState[];
}

interface McpToolState {
  readonly name: string;
  /** Of its declaration: name, description and schema. */
  readonly sha256: string;
  /** A call passed rules, guards and the person. */
  readonly isApproved: boolean;
}

/** MCP servers in the record of an attempt. */
export interface KeptMcp {
  readonly servers: readonly DigestedThing[];
  /** Servers that were not there, with the reason. */
  readonly missing: readonly string[];
}

/** The user's own MCP servers, and the listener for what becomes of every server. */
export interface McpAccess {
  servers(): Promise<readonly McpServer[]>;
  told?(state: McpState): void;
}

/** The MCP servers of one attempt, or of one turn of a talk. Disposing of it ends them. */
export interface OpenMcp extends AsyncDisposable {
  /** Absent without a tool to offer. */
  readonly door?: McpDoor;
  network(): CheckNetwork | undefined;
  /** Absent if no server was to be started. */
  kept(): KeptMcp | undefined;
}

export interface McpSetting extends McpPlace {
  readonly runId: string;
  readonly effective: Pick<EffectiveIntentSpec, 'security' | 'constraints' | 'evidence'>;
  /** A person is asked about every server and tool, and no rule has to name them. */
  readonly isTalk?: true;
  readonly policy: PrivacyPolicy;
  /** Those of the policy commit. */
  readonly servers: ReadonlyMap<string, McpServer>;
  /** Why the policy refuses a server. */
  readonly refusal: (name: string) => string | undefined;
  readonly access?: McpAccess;
  /** The value of a secret that the user keeps. */
  readonly secret: (name: string) => Promise<string | undefined>;
  /** Values that may not leave this machine, beside the secrets of the servers. */
  readonly secrets: readonly string[];
  readonly tools: ToolSetting;
}

const bound = { most: 500, told: 'an attempt may use tools of MCP servers 500 times' };

const closed: OpenMcp = {
  network: () => undefined,
  kept: () => undefined,
  [Symbol.asyncDispose]: async () => {},
};

/**
 * Starts the servers that tool rules name, and offers their tools. A server that fails is left out, with the reason.
 */
export async function openMcp(setting: McpSetting): Promise<OpenMcp> {
  const { effective, access } = setting;
  const { allow } = effective.security.toolAcl;
  if (!setting.isTalk && !allow.some(({ tool }) => tool.startsWith(prefix))) return closed;
  const servers = [...setting.servers.values(), ...((await access?.servers()) ?? [])];
  // The policy's server of a name is the one that rules mean.
  const wanted = servers.filter(
    ({ name }, index) => isNamed(setting, name) && servers.findIndex((one) => one.name === name) === index,
  );
  if (wanted.length === 0) return closed;
  const entry = openToolEntry(setting.tools, bound);
  const open: OpenServer[] = [];
  const states = new Map<string, McpState>();
  const tell = (state: McpState): void => {
    states.set(state.server, state);
    access?.told?.(state);
  };
  for (const server of wanted) {
    const why = setting.refusal(server.name) ?? obstacleTo(setting, server);
    if (why !== undefined) {
      tell({ ...aboutServer(server), state: 'refused', why, tools: [] });
      continue;
    }
    let opened: OpenServer | undefined;
    let fault: WritError | undefined;
    const answer = await entry.use(
      () => startRequest(setting, server),
      async () => {
        try {
          opened = await startServer(setting, server);
          return {
            outcome: 'done',
            text: `started: ${opened.offered.map(({ shown }) => shown.name).join(', ')}`,
          };
        } catch (thrown) {
          setting.run.services.signal.throwIfAborted();
          if (!isWritError(thrown)) throw thrown;
          fault = thrown;
          return { outcome: 'failed', text: faultText(thrown) };
        }
      },
    );
    if (opened === undefined) {
      const state = answer.outcome === 'denied' || fault?.detail.reason === 'refused' ? 'refused' : 'failed';
      tell({ ...aboutServer(server), state, why: answer.text, tools: [] });
      continue;
    }
    open.push(opened);
    tell(stateOf(opened));
  }
  const byName = new Map(
    open.flatMap((server) => server.offered.map((tool) => [tool.shown.name, { server, tool }] as const)),
  );
  const call = async (name: string, given: string): Promise<HandAnswer> => {
    const found = byName.get(name);
    if (found === undefined)
      return { outcome: 'failed', text: `failed: there is no tool \`${printable(name)}\`` };
    const { server, tool } = found;
    let read: Readonly<Record<string, unknown>> = {};
    return entry.use(
      () => {
        const parsed = readGiven(given);
        if (typeof parsed === 'string') return parsed;
        read = parsed;
        return callRequest(setting, server, tool, parsed);
      },
      async (_judged, leaving) => {
        tool.isApproved = true;
        // What a program without a network is told stays on this machine.
        if (hostsOf(server.server).length > 0 && setting.tools.calls !== undefined) await leaving();
        const answer = await callTool(setting, server, tool, read);
        tell(server.fault === undefined ? stateOf(server) : failedState(server));
        return answer;
      },
    );
  };
  return {
    ...(byName.size === 0
      ? {}
      : { door: { tools: [...byName.values()].map(({ tool }) => tool.shown), use: call } }),
    network: () => joinNetworks(open.map(({ network }) => network()).filter((one) => one !== undefined)),
    kept: () => ({
      servers: open.map(thingOf),
      missing: [...states.values()].flatMap(({ server, state, why }) =>
        state === 'started' ? [] : [`${server}: ${why ?? state}`],
      ),
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map(({ close }) => close()));
    },
  };
}

/** Whether an allow rule names a tool of the server. */
function isNamed({ isTalk, effective }: McpSetting, server: string): boolean {
  const { allow } = effective.security.toolAcl;
  return (
    isTalk === true || allow.some(({ tool, actions }) => isOf(server, tool) && actions.includes(callAction))
  );
}

function isOf(server: string, tool: string): boolean {
  return tool.startsWith(`${mcpTool(server)}.`);
}

/** The tool rules, in a talk with one that allows the tool that the person is asked about. */
function rulesFor({ isTalk, effective }: McpSetting, tool: string): EffectiveToolAcl {
  const { toolAcl } = effective.security;
  const rule = { tool, actions: [callAction], constraints: {} };
  return isTalk ? { ...toolAcl, allow: [...toolAcl.allow, rule] } : toolAcl;
}

export function aboutServer(server: McpServer): Pick<McpState, 'server' | 'from' | 'endpoint' | 'reach'> {
  return { server: server.name, from: server.from, endpoint: endpointOf(server), reach: reachOf(server) };
}

function stateOf({ server, offered }: OpenServer): McpState {
  const tools = offered.map(({ declared, sha256, isApproved }) => ({
    name: declared.name,
    sha256,
    isApproved,
  }));
  return { ...aboutServer(server), state: 'started', tools };
}

function failedState(opened: OpenServer): McpState {
  return { ...stateOf(opened), state: 'failed', why: opened.fault ?? 'failed' };
}

/** Why a server is not started, whatever a person would say. */
function obstacleTo(setting: McpSetting, server: McpServer): string | undefined {
  const { run, effective, isTalk } = setting;
  if (!effective.evidence.trustTiers.includes('web'))
    return 'its results are of the tier `web`, and `evidence.trustTiers` does not list it';
  if (server.command !== undefined && run.environment.sandbox.unconfined)
    return 'a program of an MCP server runs in a sandbox only, and this machine has none, or `--sandbox none` is set';
  const { allow } = effective.security.toolAcl;
  const named = isTalk
    ? [mcpTool(server.name)]
    : allow.map(({ tool }) => tool).filter((one) => isOf(server.name, one));
  if (named.some((tool) => isOpen(setting, server, tool))) return undefined;
  const found = `it reaches ${hostsOf(server).join(', ')}`;
  return isTalk
    ? `${found}, and the network of this session is not allowed`
    : `${found}: \`networkPolicy\` is \`deny\`, so a rule has to open all of them in \`networkHosts\`, with a reason`;
}

/** Whether the network of a server is open to the calls of a tool. */
function isOpen(setting: McpSetting, server: McpServer, tool: string): boolean {
  const hosts = hostsOf(server);
  if (hosts.length === 0 || setting.effective.constraints.security.networkPolicy === 'allow') return true;
  return allowRules(rulesFor(setting, tool).allow, tool, callAction).some(({ constraints }) =>
    hosts.every((host) => opens(constraints?.networkHosts ?? [], host)),
  );
}

/** The question whether a server may be started: bound to its command or address, and to what it reaches. */
function startRequest({ runId, tools }: McpSetting, server: McpServer): AuthorizedTool {
  const { command = [], url, env, token, directory = '' } = server;
  const secrets = [...Object.values(env), ...(token === undefined ? [] : [token])];
  const launch = { command, url, hosts: server.hosts, env, token, directory, reads: server.reads };
  const sha256 = canonicalDigest(JSON.parse(JSON.stringify(launch)));
  const words = [
    `${server.from} configuration sha256:${sha256}`,
    reachOf(server),
    ...(secrets.length === 0 ? [] : [`is given ${secrets.join(', ')}`]),
    url ?? command.join(' '),
  ];
  const query = tools.mask(printable(words.join('; '))).slice(0, maxQuery);
  return {
    request: { runId, tool: mcpTool(server.name), action: 'start', query },
    given: { launch: sha256 },
  };
}

/** A request holds that much of a text whole. */
const maxQuery = 480;

/** A tool as it is offered. */
interface OfferedTool {
  readonly declared: DeclaredTool;
  readonly sha256: string;
  readonly shown: ToolDeclaration;
  isApproved: boolean;
  calls: number;
}

interface OpenServer {
  readonly server: McpServer;
  readonly connection: McpConnection;
  readonly offered: readonly OfferedTool[];
  /** Values that it was given. */
  readonly secrets: readonly string[];
  network(): CheckNetwork | undefined;
  close(): Promise<void>;
  fault?: string;
}

async function startServer(setting: McpSetting, server: McpServer): Promise<OpenServer> {
  const { effective, secret, outside, run } = setting;
  const read = async (name: string): Promise<string> => {
    const value = await secret(name);
    if (value !== undefined && value !== '') return value;
    throw mcpFault(
      server,
      'refused',
      `needs the secret ${name}, which is not set: \`writ vault set ${name}\``,
    );
  };
  const env: Record<string, string> = {};
  for (const [variable, name] of Object.entries(server.env)) env[variable] = await read(name);
  const token = server.token === undefined ? undefined : await read(server.token);
  const secrets = [...Object.values(env), ...(token === undefined ? [] : [token])];
  await using opening = new AsyncDisposableStack();
  let network: OpenServer['network'] = () => undefined;
  let way: McpWay;
  if (server.command === undefined) {
    const client: PublicClient = openPublicClient(run.services.signal, outside, limits);
    network = () => {
      const uses = client.uses();
      return uses.length === 0 ? undefined : { opened: policyOf(server).openings.flat(), uses };
    };
    way = { send: client.stream(policyOf(server)), ...(token === undefined ? {} : { token }) };
  } else {
    const program: StartedProgram = opening.use(
      await startProgram(setting, server, env, shownTo(effective, server)),
    );
    network = program.network;
    way = { program };
  }
  const connection = opening.use(await connectServer(server, way));
  const offered = connection.tools.flatMap((declared) => {
    const shown = offer(setting, server, declared);
    return shown === undefined
      ? []
      : [{ declared, sha256: declarationDigest(declared), shown, isApproved: false, calls: 0 }];
  });
  if (offered.length === 0)
    throw mcpFault(
      server,
      'refused',
      `has ${connection.tools.length} tools, and none that its \`tools\` and the tool rules let through`,
    );
  const held = opening.move();
  return { server, connection, offered, secrets, network, close: () => held.disposeAsync() };
}

/** What of the workspace every rule for tools of the server lets it see. */
function shownTo({ security: { toolAcl } }: McpSetting['effective'], { name }: McpServer) {
  const shown = toolAcl.allow
    .filter(({ tool }) => tool.startsWith(`${mcpTool(name)}.`))
    .map(({ tool }) => shownPaths(toolAcl, tool, callAction));
  return (path: string): boolean => shown.every((shows) => shows(path));
}

const limits = { idleMs: 600_000, connectionMs: 600_000 };

/** The digest of a declaration: a changed description or schema is another tool. */
export function declarationDigest({ name, description, inputSchema }: DeclaredTool): string {
  return canonicalDigest({
    name,
    description: description.toWellFormed(),
    inputSchema: JSON.stringify(inputSchema).toWellFormed(),
  });
}

/** Function names that every vendor accepts. */
const toolName = /^[A-Za-z0-9_-]{1,64}$/;
const maxName = 64;
const maxDescription = 2000;
const maxDeclaration = 16 * 1024;

/** A tool as a model sees it; `undefined` if it is not to be offered. */
function offer(
  setting: McpSetting,
  server: McpServer,
  { name, description, inputSchema }: DeclaredTool,
): ToolDeclaration | undefined {
  const { effective, tools } = setting;
  const { promptInjection } = effective.security;
  const tool = mcpTool(server.name, name);
  const shown = `mcp__${server.name}__${name}`;
  if (server.tools?.includes(name) === false || !toolName.test(name) || shown.length > maxName)
    return undefined;
  const rules = allowRules(rulesFor(setting, tool).allow, tool, callAction);
  if (rules.length === 0 || !isOpen(setting, server, tool)) return undefined;
  const said = tools.mask(visible(description, maxDescription));
  const declaration = {
    name: shown,
    description: `Tool of the MCP server \`${server.name}\`, which describes it so:\n${untrustedText(promptInjection, said)}`,
    parameters: plainSchema(inputSchema, (text) =>
      untrustedText({ ...promptInjection, treatRetrievedContentAsUntrusted: false }, tools.mask(text)),
    ),
  };
  return JSON.stringify(declaration).length <= maxDeclaration ? declaration : undefined;
}

/** Whether `networkHosts` name exactly this host, with its port. */
function opens(entries: readonly string[], host: string): boolean {
  const wanted = readNetworkHost(host);
  return entries.some((entry) => {
    const opened = readNetworkHost(entry);
    return opened !== undefined && opened.pattern === wanted?.pattern && opened.port === wanted.port;
  });
}

/** Text without control characters but line feeds and tabs. */
function visible(text: string, most: number): string {
  return text
    .slice(0, most)
    .toWellFormed()
    .replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, ' ');
}

const scalars: ReadonlySet<string> = new Set(['string', 'number', 'boolean']);
const types: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);
const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;
const maxSchemaDepth = 6;
const maxProperties = 64;
const maxChoices = 100;
const maxWords = 500;

/**
 * A schema of a server, rebuilt from the few keywords that tell a model what to write. Patterns, references and all
 * else are left out: the schema is compiled to check a model's calls, and the server checks them itself.
 */
export function plainSchema(
  schema: unknown,
  clean: (text: string) => string,
  depth = 0,
): Readonly<Record<string, unknown>> {
  if (!isRecord(schema)) return depth === 0 ? { type: 'object' } : {};
  const inner = (one: unknown): object => (depth >= maxSchemaDepth ? {} : plainSchema(one, clean, depth + 1));
  const { type, properties, required, items, description } = schema;
  const made: Record<string, unknown> = {};
  if (depth === 0) made.type = 'object';
  else if (types.has(type)) made.type = type;
  else if (Array.isArray(type)) {
    const several = [...new Set(type.filter((one) => types.has(one)))];
    if (several.length > 0) made.type = several;
  }
  if (typeof description === 'string') made.description = clean(visible(description, maxWords));
  for (const bound of bounds) {
    const value = schema[bound];
    if (typeof value === 'number' && Number.isInteger(value) && (value >= 0 || bound.length === 7))
      made[bound] = value;
  }
  const names = isRecord(properties)
    ? Object.keys(properties).filter((name) => /^[A-Za-z0-9_.-]{1,64}$/.test(name) && name !== '__proto__')
    : [];
  if (isRecord(properties))
    made.properties = Object.fromEntries(
      names.slice(0, maxProperties).map((name) => [name, inner(properties[name])]),
    );
  if (Array.isArray(required))
    made.required = [...new Set(required.filter((one) => names.slice(0, maxProperties).includes(one)))];
  if (isRecord(items)) made.items = inner(items);
  const choices = Array.isArray(schema.enum) ? [...new Set(schema.enum)] : [];
  if (choices.length > 0 && choices.length <= maxChoices && choices.every((one) => scalars.has(typeof one)))
    made.enum = choices.map((one) => (typeof one === 'string' ? visible(one, maxWords) : one));
  for (const several of ['anyOf', 'oneOf']) {
    const list = schema[several];
    if (Array.isArray(list) && list.length > 0 && list.length <= maxProperties) made.anyOf = list.map(inner);
  }
  return made;
}

/** A call, with the verdict of the rules. Its question is bound to the declaration and to what the server reaches. */
function callRequest(
  setting: McpSetting,
  { server, secrets: given }: OpenServer,
  { declared, sha256 }: OfferedTool,
  read: Readonly<Record<string, unknown>>,
): AuthorizedTool {
  const { runId, policy, place, tools, secrets } = setting;
  const tool = mcpTool(server.name, declared.name);
  const texts = [...textsIn(read)];
  const { refusal, maxResultBytes } = guardTool(rulesFor(setting, tool), {
    tool,
    action: callAction,
    workspace: place.workspace,
    text: texts,
  });
  // Arguments are the way out for whatever a model has read.
  const leaks =
    hostsOf(server).length > 0 &&
    texts.some(
      (text) =>
        redactTexts(text, policy) !== text || [...secrets, ...given].some((one) => text.includes(one)),
    );
  const leak = {
    rule: 'mcp',
    severity: 'error',
    message: 'it holds what may not leave this machine',
  } as const;
  const refused = refusal ?? (leaks ? leak : undefined);
  const words = [`declaration sha256:${sha256}`, reachOf(server), visible(declared.description, 200)];
  return {
    request: {
      runId,
      tool,
      action: callAction,
      query: tools.mask(printable(words.join('; '))).slice(0, maxQuery),
      arguments: shownArguments(read, tools.mask),
    },
    given: { declaration: sha256, arguments: JSON.stringify(read) },
    ...(refused === undefined ? {} : { refusal: refused }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
  };
}

async function callTool(
  { run, tools }: McpSetting,
  server: OpenServer,
  tool: OfferedTool,
  given: Readonly<Record<string, unknown>>,
): Promise<HandAnswer> {
  const { signal } = run.services;
  signal.throwIfAborted();
  tool.calls += 1;
  try {
    const { isError, text } = await server.connection.call(tool.declared.name, given);
    signal.throwIfAborted();
    const said = server.secrets.reduce(
      (all, secret) => all.replaceAll(secret, '[key]'),
      visible(text, text.length),
    );
    return {
      outcome: isError ? 'failed' : 'done',
      text: `[web] ${mcpTool(server.server.name, tool.declared.name)}\n${said === '' ? '[nothing]' : said}`,
    };
  } catch (thrown) {
    signal.throwIfAborted();
    if (!isWritError(thrown, 'MCP_SERVER_FAILED')) throw thrown;
    server.fault = tools.mask(thrown.message);
    return { outcome: 'failed', text: faultText(thrown) };
  }
}

function faultText(fault: WritError): string {
  return `failed: ${fault.code}: ${messageOf(fault)}; ${fault.hints.join('; ')}`;
}

/** A server as the provenance names it: by the digest of what it declared, with the tools that were called. */
function thingOf({ server, connection, offered }: OpenServer): DigestedThing {
  const called = offered.filter(({ calls }) => calls > 0);
  return {
    name: `mcp-server/${server.name}`,
    uri: `urn:writ:mcp-server:${encodeURIComponent(endpointOf(server))}`,
    digest: { sha256: canonicalDigest(offered.map(({ sha256 }) => sha256)) },
    annotations: {
      from: [server.from],
      reach: [reachOf(server)],
      ...(connection.version === '' ? {} : { version: [printable(connection.version)] }),
      called: called.map(({ declared, sha256 }) => `${declared.name} sha256:${sha256}`),
    },
  };
}

/* Opens the proxy of one check, and what the sandbox needs to use it. */
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxEgress } from '../../core/interfaces/sandbox.ts';
import type { EgressOptions, EgressProxy } from './egress-proxy.ts';

/** A proxy for one check, and what a sandbox needs to reach it. */
export interface OpenEgress extends EgressProxy {
  readonly network: SandboxEgress;
}

/** Starts a proxy with its socket in a new directory under `parent`, mode 0700. `close` removes the directory. */
export async function openEgress(
  parent: string,
  options: Omit<EgressOptions, 'socket'>,
): Promise<OpenEgress> {
  // HTTP is twenty milliseconds of loading, and most checks have no way out.
  const { startEgressProxy } = await import('./egress-proxy.ts');
  const way = await mkdtemp(join(parent, 'egress-'));
  // A socket's path holds about a hundred octets; the way through a descriptor is short wherever the directory is.
  const directory = await open(way, 'r');
  try {
    const proxy = await startEgressProxy({
      ...options,
      socket: `/proc/self/fd/${directory.fd}/${socketName}`,
    });
    return {
      network: { way },
      seen: () => proxy.seen(),
      async close() {
        try {
          return await proxy.close();
        } finally {
          await directory.close();
          await rm(way, { recursive: true, force: true });
        }
      },
    };
  } catch (fault) {
    await directory.close();
    await rm(way, { recursive: true, force: true });
    throw fault;
  }
}

/** Where a sandbox with a way out shows the directory of the proxy's socket, and the program that leads to it. */
export const wayInside = '/egress/way';
export const forwarderInside = '/egress/node';
/** Name of the socket in its directory. */
export const socketName = 'proxy';

const port = 3128;
/** Where inside the way out begins. */
export const wayAddress = `http://127.0.0.1:${port}`;
const proxy = wayAddress;
const own = 'localhost,127.0.0.1,::1';

/**
 * Environment variables that point programs to the proxy. curl, git, npm, pip, cargo, go and Node read them, Java
 * does not.
 */
export const proxyVariables: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxy,
  HTTPS_PROXY: proxy,
  ALL_PROXY: proxy,
  NO_PROXY: own,
  http_proxy: proxy,
  https_proxy: proxy,
  all_proxy: proxy,
  no_proxy: own,
  NODE_USE_ENV_PROXY: '1',
};

/**
 * Without a network, npm and pnpm 11 would repeat each request for more than a minute without any output. pnpm 11 would
 * also install before `pnpm test`, because it recorded the path of another directory than the one of a sandbox.
 */
export const withoutNetwork = {
  npm_config_fetch_retries: '0',
  pnpm_config_fetch_retries: '0',
  pnpm_config_verify_deps_before_run: 'false',
};

const javaProxy = ['http', 'https'].map(
  (scheme) => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${port}`,
);
/** Where distributions keep the certificates that programs of the machine trust. */
const trusted = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'].find((file) =>
  existsSync(file),
);
/**
 * What package managers need beside these: Yarn, and Java with Maven and Gradle, read other variables. Node and pip
 * bring certificates of their own and would refuse an authority that this machine trusts.
 */
export const managerVariables: Readonly<Record<string, string>> = {
  ...(trusted === undefined
    ? {}
    : { NODE_EXTRA_CA_CERTS: trusted, SSL_CERT_FILE: trusted, REQUESTS_CA_BUNDLE: trusted }),
  JAVA_TOOL_OPTIONS: [
    ...javaProxy,
    // Without these, Maven 3.9 and Maven 4 ignore the properties of Java.
    '-Daether.connector.http.useSystemProperties=true',
    '-Daether.transport.apache.useSystemProperties=true',
  ].join(' '),
  YARN_HTTP_PROXY: proxy,
  YARN_HTTPS_PROXY: proxy,
};

/**
 * Runs in the sandbox under Node, so it contains no single quotes. Connects a loopback port to the socket, reports
 * readiness once, and then writes no more output.
 */
const forwarder = `
const net = require("node:net"), fs = require("node:fs");
const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const way = net.connect({ path: "${wayInside}/${socketName}", allowHalfOpen: true });
  const end = () => { client.destroy(); way.destroy(); };
  client.on("error", end); way.on("error", end);
  client.pipe(way); way.pipe(client);
});
server.maxConnections = 256;
server.listen(${port}, "127.0.0.1", () => {
  process.on("uncaughtException", () => {});
  fs.writeSync(1, "open");
  fs.closeSync(1); fs.closeSync(2);
  fs.openSync("/dev/null", "w"); fs.openSync("/dev/null", "w");
});
`;

/** Shell text that opens the way before anything else runs, or ends the set-up. It goes when the sandbox goes. */
export const openWayScript = `
way=$({ cd / && exec /usr/bin/env -i ${forwarderInside} --input-type=commonjs -e '${forwarder}' </dev/null 3>&-; } & )
[ "$way" = open ] || { echo 'the way to the egress proxy could not be opened' >&2; exit 1; }
`;

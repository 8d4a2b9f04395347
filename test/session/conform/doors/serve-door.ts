import { readFileSync } from 'node:fs';
import { systemClock } from '../../../../core/base/clock.ts';
import { openSession, type SessionSetting } from '../../../../session/open-session.ts';
import { type ServedSession, serveSession } from '../../../../session/serve/serve-session.ts';

// Another test's matter: what a command reaches from its sandbox.
const selfTest = async () => ({ isTried: true, reached: [] });

/** A session behind the server that `writ code` starts, and the token of its control file. */
export async function serveDoor(
  setting: SessionSetting,
  report: (fault: unknown) => void,
): Promise<{ readonly served: ServedSession; readonly controlToken: string }> {
  const { repositoryPath: root } = setting;
  const served = await serveSession({
    options: {
      web: { host: '127.0.0.1', port: 0 },
      mcpPort: 0,
      control: { mode: 'write', tokenFile: undefined, infoFile: undefined },
      workingDir: root,
      networkAccess: setting.ground.networkAccess,
    },
    root,
    open: () => openSession(setting),
    about: {
      provider: 'scripted',
      key: { name: 'NO_KEY', source: 'nowhere' },
      logFile: '/log',
      sandbox: async () => ({ backend: 'none', enforced: [] }),
      selfTest,
    },
    selfTest: { serve: () => {}, result: selfTest },
    version: '0.0.0',
    commit: 'unknown',
    mcp: {
      cwd: root,
      version: '0.0.0',
      ask: async () => ({}),
      approval: { policy: 'never' },
      readsOnly: () => false,
      log: () => {},
    },
    statePaths: [],
    threads: async () => ({ items: [] }),
    graph: async (thread) => ({ thread_id: thread, title: '', nodes: [], edges: [] }),
    requireAgent: () => {},
    clock: systemClock,
    log: { file: undefined, tell: () => {}, close: () => {} },
    report,
  });
  return { served, controlToken: readFileSync(served.tokenFile ?? '', 'utf8').trim() };
}

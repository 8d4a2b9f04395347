import { allCapabilities } from '../../session/state/all-capabilities.ts';
import { sound } from '../../session/state/settings/session-settings.ts';
import type { Snapshot } from '../../session/state/snapshot.ts';
import { type CodeLine, defaultProvider } from './code-line.ts';

/**
 * What a screen shows while its session is opened: what the line says by itself. It is at work, so what is sent waits.
 * With an agent profile nothing of the model is known before that is read.
 */
export function startingSnapshot(line: CodeLine, now: string): Snapshot {
  const { workingDir, agent, model, resume = '', context = 'dev', networkAccess = 'deny' } = line;
  // Of a resumed thread only its journal says which model it is worked on with.
  const provider = line.provider ?? (resume === '' ? defaultProvider : 'the model of the thread');
  return {
    sessionId: '',
    threadId: resume,
    workingDir,
    provider: {
      provider: agent === undefined ? provider : `agent ${agent}`,
      ...(agent === undefined && model !== undefined ? { model } : {}),
      managed: false,
    },
    capabilities: allCapabilities,
    controller: { kind: 'tui', canWrite: true, loopbackOnly: true },
    status: 'thinking',
    settings: sound({ context, networkAccess }),
    transcript: [],
    plans: [],
    tasks: [],
    toolCalls: [],
    patchsets: [],
    interactions: [],
    updatedAt: now,
  };
}

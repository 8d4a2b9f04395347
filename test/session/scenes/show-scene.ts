import type { GraphData } from '../../../api/schemas/other-schemas.ts';
import type { ThreadList } from '../../../session/thread/check-threads.ts';
import {
  type ServedPage,
  type SessionOwner,
  servePage,
  type ToldSession,
  toldSession,
} from '../web/serve-page.ts';
import { request, run } from './scene-texts.ts';
import { type SceneName, scenes } from './scenes.ts';

const threads = async (): Promise<ThreadList> => ({
  items: [
    {
      id: 't',
      title: request,
      archived: false,
      createdAt: '2026-11-20T09:00:00Z',
      updatedAt: '2026-11-20T10:00:00Z',
    },
    {
      id: run,
      title: 'What does parseOrder() do?',
      archived: false,
      createdAt: '2026-11-19T09:00:00Z',
      updatedAt: '2026-11-19T10:00:00Z',
    },
  ],
});

const kinds = ['intent', 'plan', 'task', 'run', 'patchset', 'evidence', 'decision'] as const;
const graph = async (thread_id: string): Promise<GraphData> => ({
  thread_id,
  title: request,
  nodes: kinds.map((kind) => ({
    id: kind,
    kind,
    label: `the ${kind}`,
    tags: kind === 'decision' ? ['commit'] : [],
    detail: `all of the ${kind}`,
  })),
  edges: kinds.slice(1).map((to, at) => ({ from: kinds[at] ?? 'intent', to, kind: to as 'plan' })),
});

/** A session in one of the states that people meet. */
export async function playScene(t: SessionOwner, name: SceneName): Promise<ToldSession> {
  const session = toldSession(t, {
    threadId: '01a2084a-0525-78c2-83f4-0ffee33709d9',
    workingDir: '/projects/orders',
    provider: { provider: 'gemini', model: 'gemini-3-pro', managed: false },
    ...(name === 'question' ? { attachable: [] } : {}),
  });
  await scenes[name](session);
  return session;
}

/** The page of a session in one of the states that people meet. */
export async function showScene(
  t: SessionOwner,
  name: SceneName,
): Promise<ServedPage & { readonly session: ToldSession }> {
  const session = await playScene(t, name);
  return { session, ...(await servePage(t, session, { threads, graph })) };
}

import type { ChildProcess } from 'node:child_process';
import { makesFix, priceDraft, submits } from '../../test/agent/planner/drafts.ts';
import { type ScriptedReply, scriptModel } from '../../test/agent/scripted-model.ts';
import type { Place } from './place.ts';
import type { Expectation, Recipe } from './recipe.ts';

const request = 'A price is one cent too high: make it exact.';
const question = 'What does price() do?';
const env = { OPENAI_API_KEY: 'key-of-no-one-1234567890' };
const provider = ['--provider', 'openai', '--model', 'gpt-6-luna', '--api-base'];
const verified = [{ criterion: 'criterion-1', checks: ['unit'] }];

const plans = (step: string): ScriptedReply => ({
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: [step] }] }]],
});

/** Threads of `writ code`: how far they had come when their process ended. */
export const sessionRecipes: Readonly<Record<string, Recipe>> = {
  'session-with-a-commit': {
    about: 'a session in which a question was answered and a request became a commit',
    async make(place) {
      const replies = [
        { text: 'It adds one cent.' },
        submits(priceDraft),
        plans('take the cent away'),
        ...makesFix,
      ];
      return await withSession(place, replies, [], async (session) => {
        await session.say(`/ask ${question}`);
        await session.settled(/idle/);
        await session.say(request);
        await session.choose('intent_review_choice', 'confirm');
        await session.choose('post_plan_choice', 'execute');
        await session.settled(/completed/);
        await session.end('SIGTERM');
        return [
          ...opened(session, ['It adds one cent.', 'Decision.Commit']),
          { run: ['verify', 'HEAD', '--replay'] },
        ];
      });
    },
  },
  'session-with-a-draft': {
    about: 'a session that was killed while a person reviewed the drafted spec',
    async make(place) {
      return await withSession(place, [submits(priceDraft)], [], async (session) => {
        await session.say(request);
        await session.pending('intent_review_choice');
        await session.end('SIGKILL');
        return opened(session, [request]);
      });
    },
  },
  'session-with-a-plan': {
    about: 'a session that was killed while a person reviewed the plan',
    async make(place) {
      const replies = [submits(priceDraft), plans('take the cent away')];
      return await withSession(place, replies, [], async (session) => {
        await session.say(request);
        await session.choose('intent_review_choice', 'confirm');
        await session.pending('post_plan_choice');
        await session.end('SIGKILL');
        return opened(session, [request]);
      });
    },
  },
  'session-killed-in-a-run': {
    about: 'a session that was killed while its run was under way',
    async make(place) {
      const replies = [submits(priceDraft), plans('take the cent away'), makesFix[0] ?? { text: '' }];
      return await withSession(place, replies, [], async (session) => {
        await session.say(request);
        await session.choose('intent_review_choice', 'confirm');
        await session.choose('post_plan_choice', 'execute');
        await session.until(({ requests }) => requests >= 3);
        await session.end('SIGKILL');
        return opened(session, [request]);
      });
    },
  },
  'session-with-a-held-change': {
    about: 'a session whose sealed change is held until a person has reviewed it',
    async make(place) {
      const replies = [submits(priceDraft), plans('take the cent away'), ...makesFix];
      return await withSession(place, replies, [], async (session) => {
        await session.say('/review on');
        await session.settled(/idle/);
        await session.say(request);
        await session.choose('intent_review_choice', 'confirm');
        await session.choose('post_plan_choice', 'execute');
        await session.pending('request_user_input');
        await session.end('SIGTERM');
        return opened(session, [request]);
      });
    },
  },
  'goal-achieved': {
    about: 'a session whose goal was achieved by the checks of its run',
    async make(place) {
      const replies = [submits({ ...priceDraft, verified }), plans('take the cent away'), ...makesFix];
      return await withSession(place, replies, ['--goal', 'Make prices exact.'], async (session) => {
        await session.choose('intent_review_choice', 'confirm');
        await session.choose('post_plan_choice', 'execute');
        await session.settled(/completed/);
        await session.end('SIGTERM');
        return [...opened(session, ['Make prices exact.']), { run: ['verify', 'HEAD', '--replay'] }];
      });
    },
  },
  'goal-killed': {
    about: 'a session that was killed while its goal waited for its budget',
    async make(place) {
      const replies = [submits({ ...priceDraft, verified }), plans('take the cent away')];
      return await withSession(place, replies, ['--goal', 'Make prices exact.'], async (session) => {
        await session.choose('intent_review_choice', 'confirm');
        await session.pending('post_plan_choice');
        await session.end('SIGKILL');
        return opened(session, ['Make prices exact.']);
      });
    },
  },
};

/** What has to hold of every thread: it is whole, it can be drawn, and a session resumes it and shows these words. */
function opened({ thread }: { readonly thread: string }, shows: readonly string[]): readonly Expectation[] {
  return [
    { run: ['fsck'] },
    { run: ['runs'] },
    { run: ['graph', thread] },
    {
      run: ['code', '--resume', thread, '--port', '0', '--mcp-port', '0', ...provider, 'http://127.0.0.1:9'],
      env,
      shows,
    },
    { run: ['fsck'] },
  ];
}

interface Seen {
  readonly status: string;
  readonly interactions: readonly { readonly id: string; readonly kind: string; readonly status: string }[];
  /** How many requests the model got. */
  readonly requests: number;
}

interface Session {
  readonly thread: string;
  say(text: string): Promise<void>;
  until(holds: (seen: Seen) => boolean): Promise<Seen>;
  settled(status: RegExp): Promise<void>;
  pending(kind: string): Promise<string>;
  choose(kind: string, option: string): Promise<void>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts `writ code` with a model that answers with these replies, and steers it as a browser would. */
async function withSession<T>(
  place: Place,
  replies: readonly ScriptedReply[],
  args: readonly string[],
  use: (session: Session) => Promise<T>,
): Promise<T> {
  await using model = await scriptModel(replies);
  const line = ['code', '--web-only', '--port', '0', '--mcp-port', '0', '--browser-control', 'loopback'];
  const child = place.start([...line, ...provider, model.base, ...args], env);
  try {
    const { base_url: base, thread_id: thread } = (await firstLine(child)) as Record<string, string>;
    let lease: Record<string, string> = {};
    const call = async (path: string, body?: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${base}/api/code/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', origin: base ?? '', ...lease },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const found = (await answer.json()) as Record<string, unknown>;
      if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(found)}`);
      return found;
    };
    const { controllerToken } = await call('controller/attach', { clientId: 'page' });
    lease = { 'x-code-controller-token': String(controllerToken) };
    return await use(steered(child, thread ?? '', call, () => model.asked.length));
  } finally {
    child.kill('SIGKILL');
  }
}

function steered(
  child: ChildProcess,
  thread: string,
  call: (path: string, body?: object) => Promise<Record<string, unknown>>,
  requests: () => number,
): Session {
  const until: Session['until'] = async (holds) => {
    for (;;) {
      // A connection that was kept open may be closed meanwhile; the next call opens another.
      const found = await call('session').catch(() => call('session'));
      const seen = { ...(found as unknown as Seen), requests: requests() };
      if (holds(seen)) return seen;
      if (seen.status === 'error') throw new Error(`the session failed: ${JSON.stringify(seen)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const pending: Session['pending'] = async (kind) => {
    const found = ({ interactions }: Seen) =>
      interactions.find((one) => one.status === 'pending' && one.kind === kind);
    return found(await until((seen) => found(seen) !== undefined))?.id ?? '';
  };
  return {
    thread,
    until,
    pending,
    say: async (text) => void (await call('messages', { text })),
    settled: async (status) => void (await until((seen) => status.test(seen.status))),
    choose: async (kind, selectedOption) =>
      void (await call(`interactions/${await pending(kind)}`, { selectedOption })),
    async end(signal) {
      const ended = new Promise((resolve) => child.on('close', resolve));
      process.kill(signal === 'SIGKILL' ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
      await ended;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<unknown> {
  let text = '';
  child.stdout?.setEncoding('utf8');
  for await (const part of child.stdout ?? []) {
    text += part;
    if (text.includes('\n')) break;
  }
  return (JSON.parse(text) as { readonly data: unknown }).data;
}

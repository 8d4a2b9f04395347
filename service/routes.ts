import type { IncomingMessage } from 'node:http';
import { toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import type { Body } from '../http/body-members.ts';
import { valuesOf } from '../http/guard-request.ts';
import type { Route } from '../http/route.ts';
import { matchesToken } from '../http/token.ts';
import type { Bus } from './bus.ts';
import type { DirtyMark, DirtyMarks } from './dirty-marks.ts';
import type { MarkGround } from './mark-ground.ts';
import { toMarks } from './mark-paths.ts';
import {
  type Notification,
  readAfter,
  readLimit,
  readNotification,
  readPaths,
  readRunEvent,
} from './read-request.ts';

/** What the routes answer from. */
export interface ServiceParts {
  readonly token: string;
  /** Of runs of the engine alone: no client is given it, so that none can publish an event in their name. */
  readonly engineToken: string;
  readonly bus: Bus;
  readonly marks: DirtyMarks;
  readonly ground: MarkGround;
}

/** Most marks in one answer. */
const maxPage = 10_000;

/** Every endpoint of the service (document 3, Endpoints), and the three that writ itself uses. */
export function serviceRoutes({ token, engineToken, bus, marks, ground }: ServiceParts): readonly Route[] {
  const admit = (request: IncomingMessage): void => requireToken(request, token);
  const admitEngine = (request: IncomingMessage): void => requireToken(request, engineToken);
  const publishing = (
    path: string,
    read: (body: Body) => Notification,
    admitted: (request: IncomingMessage) => void = admit,
  ): Route => ({
    method: 'POST',
    path,
    admit: admitted,
    answer: async ({ readBody }) => {
      const { type, data } = read(await readBody());
      return { published: true, seq: bus.publish(type, data) };
    },
  });
  return [
    { method: 'GET', path: '/api/health', answer: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/api/service/events',
      admit,
      answer: ({ request, response }) => bus.subscribe(request, response),
    },
    {
      method: 'POST',
      path: '/api/service/dirty/mark',
      admit,
      answer: async ({ readBody }) => {
        const marked = await toMarks(ground, readPaths(await readBody()));
        marks.mark(marked);
        bus.publish('dirty_marked', { paths: marked });
        return { marked };
      },
    },
    publishing('/api/service/notify', readNotification),
    publishing('/api/service/publish', readRunEvent, admitEngine),
    {
      method: 'GET',
      path: '/api/service/dirty',
      admit,
      answer: ({ query }) => {
        const after = readAfter(query);
        return { marks: marks.list({ after, limit: maxPage }).map(toData), count: marks.count() };
      },
    },
    {
      method: 'POST',
      path: '/api/service/dirty/clear',
      admit,
      answer: async ({ readBody }) => {
        const cleared = marks.clear(readLimit(await readBody(), maxPage)).map(toData);
        return { cleared, count: marks.count() };
      },
    },
  ];
}

function requireToken(request: IncomingMessage, token: string): void {
  const [given, ...more] = valuesOf(request, 'x-svc-service-token');
  if (given === undefined || given === '') throw new WritError('MISSING_SERVICE_TOKEN');
  if (more.length > 0 || !matchesToken(given, token)) throw new WritError('INVALID_SERVICE_TOKEN');
}

function toData({ path, markedAt }: DirtyMark): { readonly path: string; readonly marked_at: string } {
  return { path, marked_at: toRfc3339(markedAt) };
}

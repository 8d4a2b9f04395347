import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../../core/base/clock.ts';
import { createStreamer } from '../../../core/base/net.ts';
import type { ModelRequest } from '../../../core/interfaces/model.ts';
import { builtInProviders } from '../../../providers/built-in-providers.ts';
import { outcomeOf } from './outcome.ts';

/** Asks in a thread of its own, whose heap is bounded: what is kept without a bound ends the thread. */
interface Question {
  readonly provider: string;
  readonly base: string;
  readonly isOtherBase: boolean;
  readonly flags?: Readonly<Record<string, string>>;
  readonly request: ModelRequest;
}

const streamer = createStreamer({});

parentPort?.on('message', async ({ provider, request, flags = {}, ...setting }: Question) => {
  const source = await (builtInProviders[provider] as (typeof builtInProviders)[string])();
  const opened = await source.open({
    key: 'sk-canary-0123456789',
    ...setting,
    flags,
    stream: streamer.stream,
    clock: systemClock,
  });
  parentPort?.postMessage(await outcomeOf(opened, request));
});

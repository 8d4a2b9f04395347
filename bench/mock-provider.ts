import type { ModelEvent, ModelMessage, ToolCall } from '../core/interfaces/model.ts';
import type { Provider } from '../core/interfaces/provider.ts';
import { definePlugin, type LoadedPlugin } from '../core/kernel/plugin.ts';

/** The calls of one reply, by name and arguments. */
export type MockCalls = readonly (readonly [tool: string, given: object])[];

/** Ends an attempt. */
export const submit: MockCalls = [['submit_task_complete', { complete: true, summary: 'done' }]];

/** A model that answers at once; `next` says what it calls, after so many replies of this conversation. */
export function mockProvider(next: (replies: number, task: string) => MockCalls): Provider {
  return {
    name: 'mock',
    async *ask({ messages }): AsyncIterable<ModelEvent> {
      const [first] = messages;
      const calls = next(repliesIn(messages), first?.role === 'user' ? first.text : '');
      for (const [index, [name, given]] of calls.entries()) {
        const call: ToolCall = { id: `c${index}`, name, arguments: JSON.stringify(given) };
        yield { type: 'call', call };
      }
      yield { type: 'usage', usage: { input: 50_000, output: 500 } };
      yield { type: 'end', end: 'calls' };
    },
  };
}

/** It in slot `provider`, as `mock`. */
export function mockProviderPlugin(open: () => Provider): LoadedPlugin {
  return definePlugin({
    name: 'bench-mock',
    api: 1,
    setup({ slots }) {
      slots.provider.add('mock', {
        title: 'Mock',
        keys: [],
        base: 'http://127.0.0.1:9',
        defaultModel: 'mock',
        flags: [],
        open,
      });
      return undefined;
    },
  });
}

function repliesIn(messages: readonly ModelMessage[]): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

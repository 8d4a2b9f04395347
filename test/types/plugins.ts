/* Compiled by `npm run check`, never run: what must not compile. An error that is not there is an error itself. */
import { definePlugin, type Rule, type RuleFunction, type SlotDoor } from '../../plugin.ts';

/** A plugin as an outsider writes it needs no type annotation. */
export const plain = definePlugin({
  name: 'plain',
  api: 1,
  enforces: ['security.toolAcl'],
  setup({ hooks, rules, clock }) {
    const started = clock.monotonic();
    rules.add({ id: 'plain', point: 'patch', module: new URL('./rule.ts', import.meta.url) });
    hooks.stage.settled.tap(() => void (clock.monotonic() - started));
  },
});

export const withOptions = definePlugin({
  name: 'with-options',
  api: 1,
  options: (given): { readonly limit: number } => ({ limit: Number(given) }),
  setup({ options, onClose }) {
    onClose(() => void options.limit.toFixed());
    // @ts-expect-error the options are those that `options` returns
    onClose(() => void options.limits);
  },
});

export const wrong = [
  definePlugin({
    name: 'async',
    api: 1,
    // @ts-expect-error set-up is synchronous
    async setup() {},
  }),
  definePlugin({
    name: 'answers',
    api: 1,
    // @ts-expect-error and answers nothing
    setup: () => 1,
  }),
  definePlugin({
    name: 'future',
    // @ts-expect-error there is one version of the interface
    api: 2,
    setup() {},
  }),
  definePlugin({
    name: 'extra',
    api: 1,
    setup() {},
    // @ts-expect-error a misspelt field is not silently ignored
    enforce: ['scope'],
  }),
];

export function wrongSlots(signer: SlotDoor<{ sign(): string }>): void {
  signer.add('right', { sign: () => '' });
  signer.addLazy('right', async () => ({ sign: () => '' }));
  // @ts-expect-error an implementation keeps the slot's contract
  signer.add('wrong', { sign: () => 1 });
  // @ts-expect-error a lazy one too
  signer.addLazy('wrong', async () => ({}));
  // @ts-expect-error a plugin picks nothing
  signer.pick('right');
}

export const rightRule: RuleFunction = ({ patch, args }) =>
  patch.files.length > args.length ? [{ rule: 'x', severity: 'note', message: 'm' }] : [];

// @ts-expect-error a pass is an empty list
export const allows: RuleFunction = () => true;
// @ts-expect-error not nothing
export const forgets: RuleFunction = () => {};
export const changes: RuleFunction = (input) => {
  // @ts-expect-error a rule changes nothing that it is given
  input.args = [];
  return [];
};

export const wrongRules: readonly Rule[] = [
  // @ts-expect-error a module is named by URL, a closure cannot cross a thread
  { id: 'x', point: 'patch', module: () => [] },
  // @ts-expect-error there is no such moment
  { id: 'x', point: 'afterwards', module: new URL('file:///x.ts') },
];

/* Compiled by `npm run check`, never run: what must not compile. An error that is not there is an error itself. */
import type { Hooks, PluginHooks } from '../../core/kernel/hooks.ts';

/** Right answers compile, plain or promised. */
export function rightTaps({
  engine,
  tool,
  patch,
  artifact,
  stage,
  statement,
  spec,
  decision,
}: PluginHooks): void {
  engine.opened.tap(({ plugins }) => void plugins.length);
  stage.settled.tap(async () => {});
  tool.guard.tap(() => undefined);
  tool.guard.tap(({ action }) => (action === 'write' ? { message: 'no writes' } : undefined));
  decision.guard.tap(async ({ stages }) => (stages.length === 0 ? { message: 'nothing ran' } : undefined), {
    timeoutMs: 5,
  });
  patch.judge.tap(() => [], { before: 'another' });
  spec.check.tap(async () => [{ code: 'SEMANTIC_X', path: '/intent', message: 'm', severity: 'warning' }]);
  artifact.redact.tap((value) => ({ ...value, redactions: value.redactions + 1 }));
  statement.fill.tap(() => [{ name: 'model', digest: { sha256: '00' } }]);
}

export function wrongGuards({ tool, decision }: PluginHooks): void {
  // @ts-expect-error there is no "allow" value
  tool.guard.tap(() => true);
  // @ts-expect-error nor is its absence one
  tool.guard.tap(() => null);
  // @ts-expect-error nor a word
  tool.guard.tap(() => 'deny');
  // @ts-expect-error nor a promise of one
  decision.guard.tap(async () => false);
  // @ts-expect-error a refusal says why
  tool.guard.tap(() => ({ path: 'a.ts' }));
  // @ts-expect-error lines are numbers
  tool.guard.tap(() => ({ message: 'no', line: '3' }));
  // @ts-expect-error a guard hears of a tool request, not of a patch
  tool.guard.tap(({ patch }) => (patch ? undefined : { message: 'no patch' }));
}

export function wrongCollectors({ spec, patch, stage, statement }: PluginHooks): void {
  // @ts-expect-error nothing found is an empty list, not nothing
  patch.judge.tap(() => {});
  // @ts-expect-error findings come in a list
  stage.judge.tap(() => ({ rule: 'x', severity: 'error', message: 'm' }));
  // @ts-expect-error a finding has a severity
  patch.judge.tap(() => [{ rule: 'x', message: 'm' }]);
  // @ts-expect-error of the three that there are
  patch.judge.tap(() => [{ rule: 'x', severity: 'fatal', message: 'm' }]);
  // @ts-expect-error an issue is no finding
  spec.check.tap(() => [{ rule: 'x', severity: 'error', message: 'm' }]);
  // @ts-expect-error a thing without digest proves nothing
  statement.fill.tap(() => [{ name: 'model' }]);
}

export function wrongSenses({ replan }: PluginHooks): void {
  replan.sense.tap(({ fired, stages }) => (stages.length > 0 && fired.length === 0 ? ['unknown-api'] : []));
  // @ts-expect-error a trigger is one of the contract's
  replan.sense.tap(() => ['boredom']);
  // @ts-expect-error in a list
  replan.sense.tap(() => 'unknown-api');
}

export function wrongFrames({ frame }: PluginHooks): void {
  frame.admit.tap(({ form }) => (form === 'item' ? { message: 'no items' } : undefined));
  frame.tag.tap((entry) => ({ ...entry, tags: { ...entry.tags, topic: 'x' } }));
  // @ts-expect-error a tag is text
  frame.tag.tap((entry) => ({ ...entry, tags: { topic: 1 } }));
  // @ts-expect-error a tier is one of five
  frame.tag.tap((entry) => ({ ...entry, trustTier: 'mine' }));
  // @ts-expect-error bytes stay bytes
  frame.redact.tap((entry) => ({ ...entry, bytes: 'text' }));
}

export function wrongTransforms({ artifact }: PluginHooks): void {
  // @ts-expect-error a transform returns the new value
  artifact.redact.tap((value) => void value.redactions);
  // @ts-expect-error or a promise of it
  artifact.redact.tap(async () => {});
  // @ts-expect-error all of it
  artifact.redact.tap(({ bytes }) => ({ bytes }));
  artifact.redact.tap((value) => {
    // @ts-expect-error the value itself does not change
    value.redactions = 1;
    return value;
  });
}

export function wrongTable(hooks: PluginHooks, whole: Hooks): void {
  // @ts-expect-error the contract is never transformed
  hooks.spec.transform.tap((spec: unknown) => spec);
  // @ts-expect-error no such point
  hooks.decision.override.tap(() => undefined);
  // @ts-expect-error a plugin calls no hook
  hooks.tool.guard.call({ runId: 'r', tool: 't', action: 'a' });
  // @ts-expect-error a plugin does not freeze
  hooks.tool.guard.freeze();
  // @ts-expect-error a plugin does not choose under which name it taps
  hooks.tool.guard.tap('another', () => undefined);
  // @ts-expect-error a deadline is a number
  hooks.engine.opened.tap(() => {}, { timeoutMs: '5 s' });
  // @ts-expect-error the table does not change
  delete (whole as Partial<Hooks>).tool;
}

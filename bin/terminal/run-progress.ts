import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { Progress } from './progress.ts';

/** Shows a run's progress on a terminal, as an ordinary observer plugin. */
export function progressPlugin(progress: Progress): LoadedPlugin {
  return definePlugin({
    name: 'terminal-progress',
    api: 1,
    setup({ hooks }) {
      let settled = 0;
      hooks.tool.started.tap(({ checkId, command }) =>
        progress.update(`checking ${checkId ?? ''}: ${command ?? ''}`),
      );
      hooks.tool.settled.tap(({ request }) => {
        settled += 1;
        progress.update(`${settled} checks done, last ${request.checkId ?? request.tool}`);
      });
      hooks.stage.settled.tap(({ stage }) => progress.update(`stage ${stage.stage} ${stage.status}`));
      hooks.decision.made.tap(({ type }) => progress.update(`decision: ${type}`));
      return undefined;
    },
  });
}

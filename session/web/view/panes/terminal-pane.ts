/* The pane Terminal. */
import type { VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Page } from '../../page/page.ts';
import type { ToolCall } from '../../seen.ts';
import { h, text, timeWords, toolLine } from '../parts.ts';

const atFirst = 200;

/** Every use of a tool, the newest first: what it was, what came of it, what a command of one's own printed. */
export function TerminalPane({ page: { state } }: { readonly page: Page }): VNode {
  const [isWhole, showWhole] = useState(false);
  // The same call is the same view: of a thousand that have not changed none is looked at again.
  const views = useRef(new WeakMap<ToolCall, VNode>());
  const viewOf = (call: ToolCall): VNode => {
    const view = views.current.get(call) ?? h(Call, { key: call.id, call });
    views.current.set(call, view);
    return view;
  };
  const calls = state.seen?.toolCalls ?? [];
  if (calls.length === 0) return h('p.empty', 'No tool was used yet.');
  const shown = isWhole ? calls : calls.slice(-atFirst);
  return h(
    'div.terminal',
    h('ol.calls', { reversed: true }, shown.toReversed().map(viewOf)),
    shown.length < calls.length &&
      h('button', { onClick: () => showWhole(true) }, `Show ${calls.length - shown.length} more`),
  );
}

function Call({ call }: { readonly call: ToolCall }): VNode {
  return useMemo(
    () =>
      h(
        `li.call.call-${call.status}`,
        ...toolLine({ toolName: call.toolName, told: call.summary ?? '', status: call.status }),
        h('time', { dateTime: call.updatedAt }, timeWords(call.updatedAt)),
        call.details !== undefined &&
          h('details', h('summary', 'Details'), h('pre', { tabIndex: 0 }, text(call.details))),
        call.output !== undefined &&
          h('pre.printed', { tabIndex: 0, 'aria-label': 'What it printed' }, text(call.output)),
      ),
    [call],
  );
}

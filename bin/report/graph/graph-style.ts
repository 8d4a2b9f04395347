/** Style sheet of the page of a graph, after `pageStyle`. */
export const graphStyle = `
h1 { font-size: 1.35rem; line-height: 1.25; font-weight: 700; }
.drawing { margin-top: 1rem; }
.drawing .tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin-bottom: .4rem; }
.drawing button { font: inherit; min-width: 2.75rem; min-height: 2.75rem; padding: 0 .8rem; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
.drawing button:focus-visible, #frame:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
#frame { height: min(60vh, 40rem); overflow: hidden; touch-action: none; cursor: grab; padding: 0; }
#frame.held { cursor: grabbing; }
#view { display: block; width: 100%; height: 100%; user-select: none; -webkit-user-select: none; }
#view path { fill: none; stroke: var(--bar); stroke-width: 1.4; }
#view .to-before, #view .to-part-of, #view .to-rests-on { stroke: var(--soft); stroke-opacity: .55; stroke-dasharray: 4 3; }
#view .to-replaced-by, #view .to-revised, #view .to-superseded-by { stroke: var(--open); stroke-width: 2; }
#view rect { fill: var(--card); stroke: var(--bar); }
#view .good rect { fill: var(--good-wash); stroke: var(--good); }
#view .bad rect { fill: var(--bad-wash); stroke: var(--bad); }
#view .open rect { fill: var(--open-wash); stroke: var(--open); }
#view .here rect { stroke-width: 3; }
#view text { fill: var(--ink); font-size: 12.5px; }
#view .kind { fill: var(--soft); font-size: 11px; }
#view .good .kind, #view .bad .kind, #view .open .kind { fill: var(--ink); }
.tree ul ul { margin-left: .45rem; padding-left: .7rem; border-left: 1px solid var(--line); }
.tree li { margin-top: .3rem; }
.tree details { margin-top: 0; }
.tree summary { color: var(--ink); font-size: .92rem; padding: .15rem .3rem; border-radius: 6px; overflow-wrap: anywhere; }
.tree .kind { color: var(--soft); font-size: .8rem; }
.tree .of-intent > details .name { font-weight: 650; }
.name.good { color: var(--good); } .name.bad { color: var(--bad); } .name.open { color: var(--open); }
.tree details p { margin: .2rem 0 0 1rem; }
.tree pre { margin: .3rem 0 .5rem 1rem; font-size: .8rem; }
.tree li:target > details > summary { background: var(--open-wash); outline: 2px solid var(--open); }
@media (max-width: 34rem) {
  #frame { height: 55vh; }
  .tree ul ul { margin-left: .2rem; padding-left: .45rem; }
}
`;

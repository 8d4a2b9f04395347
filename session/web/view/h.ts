import { type ComponentChildren, type ComponentType, createElement, type Key, type VNode } from 'preact';

type Attributes = Readonly<Record<string, unknown>> | null;
type Children = readonly ComponentChildren[];

/** An element of the page: a tag with its attributes, or a part of ours with what it is handed. Children are text. */
export function h(tag: string, attributes: Attributes, ...children: Children): VNode;
export function h<Props>(part: ComponentType<Props>, props: Props & { readonly key?: Key }): VNode;
export function h(what: string | ComponentType, attributes: Attributes, ...children: Children): VNode {
  return createElement(what as string, attributes, ...children) as VNode;
}

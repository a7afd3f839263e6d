import { hub, type Manifest } from './home';

type PodTemplatePart = { readonly metadata?: object; readonly spec?: object };

/** A pod template with a node selector that matches no node. */
export const nowhere = ({ metadata, spec }: PodTemplatePart = {}) => ({
  ...(metadata && { metadata }),
  spec: { nodeSelector: { 'example.org/no-such-node': 'true' }, ...spec },
});

/**
 * A Hub whose pod stays Pending. It suffices to see the objects that the operator makes, without the time and
 * the memory of a hub.
 */
export const idleHub = (name: string, spec: { readonly [field: string]: unknown } = {}): Manifest =>
  hub(name, { ...spec, podTemplate: nowhere(spec['podTemplate'] as PodTemplatePart | undefined) });

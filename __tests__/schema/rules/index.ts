import { childRules } from './children';
import { hubRules } from './hub';
import type { RuleCase } from './rule-case';

export const rules: readonly RuleCase[] = [...hubRules, ...childRules];

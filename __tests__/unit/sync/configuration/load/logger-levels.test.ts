import { readLoggerLevels } from '../../../../../operator/sync/configuration/generate/logger-levels';
import { loggerCalls } from '../../../../../operator/sync/configuration/load/reload-sections';

describe('readLoggerLevels', () => {
  test.each([
    [
      'logger:\n  default: Warning\n  logs:\n    a.b: debug\n',
      { default: 'warning', logs: { 'a.b': 'debug' } },
    ],
    ['logger:\n', { logs: {} }],
    ['zone:\n', { logs: {} }],
    ['logger: !include logger.yaml\n', { default: 'error', logs: {} }],
    ['x: &l {default: info}\nlogger: *l\n', { default: 'info', logs: {} }],
    [
      'homeassistant:\n  packages:\n    a:\n      logger: {default: info, logs: {x: debug, y: debug}}\n    b: !include package.yaml\nlogger:\n  logs: {x: error}\n',
      { default: 'info', logs: { x: 'error', y: 'debug', z: 'info' } },
    ],
  ])('%j', (text, levels) => {
    const files = {
      'configuration.yaml': text,
      'logger.yaml': 'default: error\n',
      'package.yaml': 'logger: {default: fatal, logs: {z: info}}\n',
    };
    expect(readLoggerLevels(files)).toEqual(levels);
  });
});

describe('loggerCalls', () => {
  test('sets the levels in the text, and gives removed loggers the level of their parent', () => {
    const before = { default: 'debug', logs: { gone: 'debug', kept: 'info' } };
    expect(loggerCalls(before, { default: 'error', logs: { kept: 'warning' } })).toEqual([
      { domain: 'logger', service: 'set_default_level', data: { level: 'error' } },
      { domain: 'logger', service: 'set_level', data: { gone: 'notset', kept: 'warning' } },
    ]);
  });

  test('without a default, it is that of the hub', () => {
    expect(loggerCalls({ default: 'debug', logs: {} }, { logs: {} })).toEqual([
      { domain: 'logger', service: 'set_default_level', data: { level: 'warning' } },
    ]);
  });
});

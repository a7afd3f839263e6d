import { FollowedCollection } from '../connection/collection';
import type { CategoryScope } from '../connection/registry-types';
import type { HubConnection } from '../connection/connection';
import { SharedAttempt } from '../connection/shared-attempt';

/** Names of categories by their ids, which the hub draws. */
export type Categories = ReadonlyMap<string, string>;

/** The form of a name in which the hub compares it. */
type Fold = (name: string) => string;

/** The id of a category; undefined: there is none of this name. */
export function categoryId(categories: Categories, name: string, fold: Fold): string | undefined {
  const folded = fold(name);
  for (const [id, each] of categories) if (fold(each) === folded) return id;
  return undefined;
}

/** The categories of a hub. The list of a scope is read once and then followed. */
export class CategoryRegistry {
  private readonly lists = new Map<CategoryScope, FollowedCollection<string>>();
  private readonly subscription: SharedAttempt<unknown>;
  /** By scope and name. */
  private readonly creating = new Map<string, Promise<void>>();

  constructor(private readonly connection: HubConnection) {
    this.subscription = new SharedAttempt(() =>
      connection.subscribeEvents('category_registry_updated', () => {
        for (const list of this.lists.values()) list.invalidate();
      }),
    );
  }

  /** All of a scope, with all changes that the hub has reported so far. */
  async entries(scope: CategoryScope): Promise<Categories> {
    return this.listOf(scope).get();
  }

  /**
   * Creates a category that does not exist. One for all that ask for it: the hub refuses a second one of its name.
   *
   * @throws HubRejected
   */
  async ensure(scope: CategoryScope, name: string, fold: Fold): Promise<void> {
    const key = JSON.stringify([scope, fold(name)]);
    let creation = this.creating.get(key);
    if (!creation) {
      creation = this.createIfMissing(scope, name, fold).finally(() => this.creating.delete(key));
      this.creating.set(key, creation);
    }
    await creation;
  }

  private async createIfMissing(scope: CategoryScope, name: string, fold: Fold): Promise<void> {
    if (categoryId(await this.entries(scope), name, fold) !== undefined) return;
    try {
      await this.connection.command('config/category_registry/create', { scope, name });
    } finally {
      this.lists.get(scope)?.invalidate();
    }
  }

  private listOf(scope: CategoryScope): FollowedCollection<string> {
    let list = this.lists.get(scope);
    if (!list) {
      const { connection } = this;
      list = new FollowedCollection<string>(connection, {
        name: `${scope} categories`,
        subscribe: () => this.subscription.run(),
        fetch: async () => {
          const all = await connection.command('config/category_registry/list', { scope });
          return new Map(all.map(({ category_id: id, name }) => [id, name]));
        },
      });
      this.lists.set(scope, list);
    }
    return list;
  }
}

/** Types for the parts of `pg` that the bench uses; the package ships no types. */
declare module "pg" {
  export interface QueryResult<Row> {
    readonly rows: Array<Row>
    readonly rowCount: number | null
  }
  export interface QueryConfig {
    readonly name?: string
    readonly text: string
    readonly values?: ReadonlyArray<unknown>
  }
  export interface ConnectionOptions {
    readonly connectionString: string
    readonly max?: number
    readonly min?: number
    readonly application_name?: string
  }
  interface Queryable {
    query<Row = { [column: string]: unknown }>(text: string, values?: ReadonlyArray<unknown>): Promise<QueryResult<Row>>
    query<Row = { [column: string]: unknown }>(query: QueryConfig): Promise<QueryResult<Row>>
    on(event: "error", listener: (error: Error) => void): this
  }
  export interface PoolClient extends Queryable {
    release(error?: Error): void
  }
  export class Client implements Queryable {
    constructor(options: ConnectionOptions)
    connect(): Promise<void>
    end(): Promise<void>
    query: Queryable["query"]
    on: Queryable["on"]
  }
  export class Pool implements Queryable {
    constructor(options: ConnectionOptions)
    connect(): Promise<PoolClient>
    end(): Promise<void>
    query: Queryable["query"]
    on: Queryable["on"]
  }
}

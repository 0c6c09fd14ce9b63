CREATE TABLE `api_keys` (
	`hash` blob PRIMARY KEY NOT NULL,
	`environment` integer NOT NULL,
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `api_keys_environment` ON `api_keys` (`environment`);--> statement-breakpoint
CREATE TABLE `environments` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`profile` text,
	`assumptions` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environments_id` ON `environments` (`id`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`environment` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`status` integer NOT NULL,
	`body` blob NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `key`),
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_created` ON `idempotency_keys` (`environment`,`created_at`);--> statement-breakpoint
CREATE TABLE `integrations` (
	`environment` integer NOT NULL,
	`id` text NOT NULL,
	`identifier` text NOT NULL,
	`channel` text NOT NULL,
	`active` integer NOT NULL,
	`is_primary` integer NOT NULL,
	`deleted` integer NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`environment`, `id`),
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `integrations_identifier` ON `integrations` (`environment`,`identifier`);--> statement-breakpoint
CREATE UNIQUE INDEX `integrations_one_primary_per_channel` ON `integrations` (`environment`,`channel`) WHERE "integrations"."is_primary" = 1 AND "integrations"."deleted" = 0;--> statement-breakpoint
CREATE INDEX `integrations_id` ON `integrations` (`id`);--> statement-breakpoint
CREATE TABLE `messages` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`environment` integer NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`channel` text NOT NULL,
	`subscriber_id` text,
	`transaction_id` text NOT NULL,
	`context` text NOT NULL,
	`document` text NOT NULL,
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_id` ON `messages` (`environment`,`id`);--> statement-breakpoint
CREATE INDEX `messages_created` ON `messages` (`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `messages_channel` ON `messages` (`environment`,`channel`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `messages_subscriber` ON `messages` (`environment`,`subscriber_id`,`created_at`,`id`,`channel`);--> statement-breakpoint
CREATE INDEX `messages_transaction` ON `messages` (`environment`,`transaction_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `messages_context` ON `messages` (`environment`,`context`,`created_at`,`id`,`channel`);--> statement-breakpoint
CREATE TABLE `subscribers` (
	`environment` integer NOT NULL,
	`id` text NOT NULL,
	`subscriber_id` text NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`environment`, `id`),
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_subscriber_id` ON `subscribers` (`environment`,`subscriber_id`);--> statement-breakpoint
CREATE TABLE `workflow_steps` (
	`environment` integer NOT NULL,
	`id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`step_id` text NOT NULL,
	`position` integer NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`environment`, `id`),
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflow_steps_step_id` ON `workflow_steps` (`environment`,`workflow_id`,`step_id`);--> statement-breakpoint
CREATE TABLE `workflows` (
	`environment` integer NOT NULL,
	`id` text NOT NULL,
	`identifier` text NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`environment`, `id`),
	FOREIGN KEY (`environment`) REFERENCES `environments`(`key`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workflows_identifier` ON `workflows` (`environment`,`identifier`);
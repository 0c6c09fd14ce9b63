ALTER TABLE `environments` ADD `ttl` integer;--> statement-breakpoint
CREATE INDEX `environments_name` ON `environments` (`name`) WHERE "environments"."snapshot_of" IS NULL;
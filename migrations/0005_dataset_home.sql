ALTER TABLE `datasets` ADD `environment_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `datasets` ADD `organization_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `datasets` SET `environment_id` = `e`.`id`, `organization_id` = `e`.`organization_id` FROM `environments` AS `e`
WHERE `e`.`snapshot_of` IS NOT NULL AND `datasets`.`key` IN (`e`.`integrations`, `e`.`subscribers`, `e`.`workflows`, `e`.`messages`, `e`.`idempotency`);--> statement-breakpoint
UPDATE `datasets` SET `environment_id` = `e`.`id`, `organization_id` = `e`.`organization_id` FROM `environments` AS `e`
WHERE `e`.`snapshot_of` IS NULL AND `datasets`.`key` IN (`e`.`integrations`, `e`.`subscribers`, `e`.`workflows`, `e`.`messages`, `e`.`idempotency`);
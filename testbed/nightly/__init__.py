"""Every night the same reproductions: did anything get worse?"""
